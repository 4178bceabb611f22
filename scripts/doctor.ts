import { join } from 'node:path'
import { listBackups } from '../lib/backup/backup-folder.ts'
import { recallPlans } from '../lib/billing/known-plans.ts'
import { createPlanPrices } from '../lib/billing/plan-prices.ts'
import { OVERAGE_EVENT } from '../lib/billing/stripe/overages.ts'
import { type Config, type PostgresConfig, readConfig } from '../lib/config/config.ts'
import { readPlans } from '../lib/config/plans.ts'
import { pendingMigrations } from '../lib/db/database-file.ts'
import { type Db, openDbToRead } from '../lib/db/open.ts'
import { checkBackups, checkDownloads, checkGeo, checkTimezones } from '../lib/doctor/check-age.ts'
import { checkAccount, checkBillingState } from '../lib/doctor/check-billing.ts'
import { checkConfig } from '../lib/doctor/check-config.ts'
import { checkClock, checkDatabase } from '../lib/doctor/check-database.ts'
import { checkDisk, readDisk } from '../lib/doctor/check-disk.ts'
import { checkFolder } from '../lib/doctor/check-folder.ts'
import { checkGeofeeds } from '../lib/doctor/check-geofeeds.ts'
import { checkLists } from '../lib/doctor/check-lists.ts'
import { checkMirror } from '../lib/doctor/check-mirror.ts'
import { checkPostgres, checkPostgresClock } from '../lib/doctor/check-postgres.ts'
import { checkReplication } from '../lib/doctor/check-replication.ts'
import { checkAuth, checkMail } from '../lib/doctor/check-services.ts'
import { checkTax } from '../lib/doctor/check-tax.ts'
import { countBilling } from '../lib/doctor/count-billing.ts'
import {
  type Check,
  type Finding,
  type NamedFinding,
  runCheck,
  wrong,
  wrongIfThrows,
} from '../lib/doctor/finding.ts'
import { hasLitestream, readReplication } from '../lib/doctor/replication.ts'
import { timezoneData } from '../lib/geo/answer/timezones.ts'
import { findLastDownload } from '../lib/geo/download/last-download.ts'
import { findGeofeeds } from '../lib/geo/geofeeds/find-geofeeds.ts'
import { readGeofeedStates } from '../lib/geo/geofeeds/geofeed-states.ts'
import { triedLists } from '../lib/geo/network-lists/list-states.ts'
import { commandText, usageText } from '../lib/parts/clone-or-package.ts'
import { reasonOf } from '../lib/parts/reason.ts'
import { isDownloading, renewalOf } from '../lib/services/geo/downloads.ts'
import { findMismatches, openBilling } from './parts/billing.ts'
import { readGeoFiles } from './parts/geo-files.ts'
import { FLAG, readArguments } from './parts/options.ts'
import { run } from './parts/run.ts'

const USAGE = `Usage: ${usageText('doctor', '[option]')}
Checks everything that a server with this environment needs, and advises how to fix each problem.
Changes nothing; the server may be running. The exit code is 1 if something is wrong.
  --json   print a list of all findings as JSON; the exit code is 0 if all checks have run`

await run(async () => {
  const { values } = readArguments({ options: { json: FLAG } }, USAGE)
  const found: NamedFinding[] = []
  for (const check of checksOf(readConfig(process.env))) {
    for (const finding of await runCheck(check)) {
      if (values.json === true) found.push({ check: check.name, ...finding })
      else print(check.name, finding)
    }
  }
  if (values.json === true) process.stdout.write(`${JSON.stringify(found)}\n`)
})

function checksOf(config: Config): Check[] {
  const { dataDir, smtpUrl, authUrl } = config
  const checks: Check[] = [
    { name: 'Settings', find: async () => checkConfig(config) },
    { name: 'Folder', find: async () => checkFolder(dataDir) },
    { name: 'Disk', find: async () => checkDisk(readDisk(dataDir)) },
    ...(config.postgres === undefined ? fileChecks(dataDir) : postgresChecks(config.postgres)),
    { name: 'Geo files', find: () => findGeo(config) },
    { name: 'Backups', find: () => findBackups(config) },
  ]
  // The shell of an operator may lack the setting, which scripts/with-litestream.sh makes.
  const isCopied = config.replicated || hasLitestream(dataDir)
  if (config.postgres === undefined && isCopied) {
    checks.push({ name: 'Copy', find: () => findCopy(dataDir) })
  }
  const { secretKey } = config.stripe
  if (secretKey !== undefined) {
    checks.push({ name: 'Billing', find: () => findBilling(secretKey, config) })
  }
  if (smtpUrl !== undefined) checks.push({ name: 'Mail', find: () => checkMail(smtpUrl) })
  if (authUrl !== undefined) {
    checks.push({ name: 'Sign-in', find: () => checkAuth(authUrl, Date.now) })
  }
  return checks
}

function fileChecks(dataDir: string): Check[] {
  const database = join(dataDir, 'app.db')
  return [
    { name: 'Clock', find: async () => checkClock(database, Date.now()) },
    { name: 'Database', find: async () => checkDatabase(database) },
  ]
}

function postgresChecks(config: PostgresConfig): Check[] {
  const load = () => import('./doctor/inspect-postgres.ts')
  return [
    { name: 'Clock', find: async () => compareWith(await (await load()).findClock(config)) },
    {
      name: 'Database',
      find: async () => checkPostgres(await (await load()).inspectPostgres(config)),
    },
  ]
}

function compareWith(theirs: number | undefined): Finding[] {
  return theirs === undefined ? [] : [checkPostgresClock(theirs, Date.now())]
}

async function findGeo(config: Config): Promise<Finding[]> {
  const now = Date.now()
  const directory = join(config.dataDir, 'geo')
  const found = [
    ...checkGeo(await readGeoFiles(config), renewalOf(config), now),
    ...checkLists(triedLists(directory), now),
    ...geofeedFindings(config, now),
    checkTimezones(timezoneData()),
  ]
  if (!isDownloading(config)) return found
  return [...found, checkDownloads(findLastDownload(directory, now), now)]
}

function geofeedFindings({ dataDir, geo }: Config, now: number): Finding[] {
  const { geofeeds } = geo
  if (geofeeds.length === 0) return []
  const unusable = wrongIfThrows(
    () => findGeofeeds(geofeeds),
    'repair what MERIDIAN_GEOFEEDS names',
  )
  return [...unusable, ...checkGeofeeds(readGeofeedStates(join(dataDir, 'geo')).feeds, now)]
}

async function findBackups({ backupDir, postgres }: Config): Promise<Finding[]> {
  const [latest] = await listBackups(backupDir)
  // Another machine may make those of a shared database.
  if (postgres !== undefined && latest === undefined) return []
  return [checkBackups(backupDir, latest?.createdAt, Date.now())]
}

async function findCopy(dataDir: string): Promise<Finding[]> {
  return [checkReplication(await readReplication(dataDir), Date.now())]
}

async function findBilling(secretKey: string, config: Config): Promise<Finding[]> {
  // The SDK is slow to load.
  const { createAccountReader } = await import('../lib/billing/stripe/account-reader.ts')
  const { stripe, plansFile } = config
  const known = readPlans(plansFile)
  const { priceOf } = createPlanPrices(known, stripe.prices)
  const paid = known.list.filter(({ price }) => price > 0)
  const plans = paid.map((plan) => ({
    id: plan.id,
    amount: plan.price,
    currency: plan.currency,
    priceId: priceOf(plan),
    yearlyPriceId: priceOf(plan, 'year'),
  }))
  const account = createAccountReader(secretKey, stripe)
  const { overagePrice, webhookSecrets } = stripe
  const settings = { plans, overagePrice, webhookSecrets, overageEvent: OVERAGE_EVENT }
  const findings = await checkAccount(account, settings)
  findings.push(...(await checkTax(account, stripe.tax)))
  return [...findings, ...(await findBillingState(config))]
}

/** Empty if the database cannot be read, which the check of the database reports. */
async function findBillingState(config: Config): Promise<Finding[]> {
  const find = async (db: Db) => [
    ...checkBillingState(await countBilling(db), Date.now()),
    ...(await checkMismatches(db, config)),
  ]
  try {
    if (config.postgres === undefined) return await readFile(join(config.dataDir, 'app.db'), find)
    const { readPostgres } = await import('./doctor/inspect-postgres.ts')
    return (await readPostgres(config.postgres, find)) ?? []
  } catch {
    return []
  }
}

async function readFile(
  database: string,
  find: (db: Db) => Promise<Finding[]>,
): Promise<Finding[]> {
  if (pendingMigrations(database).length > 0) return []
  const db = openDbToRead(database)
  try {
    return await find(db)
  } finally {
    db.$client.close()
  }
}

async function checkMismatches(db: Db, { stripe, plansFile }: Config): Promise<Finding[]> {
  try {
    const plans = await recallPlans(db, readPlans(plansFile))
    const accounts = { db, plans, now: Date.now(), command: commandText('doctor') }
    return checkMirror(await findMismatches(openBilling(accounts, stripe), accounts, 'compare'))
  } catch (error) {
    return [wrong(`Cannot compare with Stripe: ${reasonOf(error)}`, 'see the other findings')]
  }
}

function print(name: string, finding: Finding): void {
  const start = `${finding.state.padEnd(7)}  ${name.padEnd(9)}  `
  process.stdout.write(`${start}${finding.text}\n`)
  if (finding.state === 'ok') return
  process.stdout.write(`${' '.repeat(start.length)}→ ${finding.advice}\n`)
  if (finding.state === 'wrong') process.exitCode = 1
}
