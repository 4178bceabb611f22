import { join } from 'node:path'
import { recallPlans } from '../lib/billing/known-plans.ts'
import { OVERAGE_EVENT } from '../lib/billing/overages/send-report.ts'
import { createPlanPrices } from '../lib/billing/plan-prices.ts'
import { type Config, type PostgresConfig, readConfig } from '../lib/config/config.ts'
import { readPlans } from '../lib/config/plans.ts'
import { countFailed } from '../lib/contact/delivery-store.ts'
import { pendingMigrations } from '../lib/db/database-file.ts'
import { type Db, openDbToRead } from '../lib/db/open.ts'
import { checkAccount, checkBillingState } from '../lib/doctor/check-billing.ts'
import { checkClock, checkDatabase } from '../lib/doctor/check-database.ts'
import { checkInquiries, checkNotices } from '../lib/doctor/check-deliveries.ts'
import { checkMirror } from '../lib/doctor/check-mirror.ts'
import { checkPostgres, checkPostgresClock } from '../lib/doctor/check-postgres.ts'
import { checkAuth, checkMail } from '../lib/doctor/check-services.ts'
import { checkTax } from '../lib/doctor/check-tax.ts'
import { countBilling } from '../lib/doctor/count-billing.ts'
import {
  type Check,
  type Finding,
  type NamedFinding,
  runCheck,
  wrong,
} from '../lib/doctor/finding.ts'
import { hasAccount } from '../lib/geo/download/sources.ts'
import { commandText, usageText } from '../lib/parts/clone-or-package.ts'
import { reasonOf } from '../lib/parts/reason.ts'
import { type AccountOrigin, findAccountOrigin } from '../lib/services/geo/maxmind-account.ts'
import { quickChecks } from '../lib/services/operate/quick-checks.ts'
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
    ...quickChecks({
      config,
      readGeoFiles: () => readGeoFiles(config),
      findAccount: () => findAccount(config),
      now: Date.now,
    }),
    ...(config.postgres === undefined ? fileChecks(dataDir) : postgresChecks(config.postgres)),
    {
      name: 'Inquiries',
      find: () => findIn(config, async (db) => [checkInquiries((await countFailed(db)).inquiries)]),
    },
    {
      name: 'Deliveries',
      find: () => findIn(config, async (db) => [checkNotices((await countFailed(db)).notices)]),
    },
  ]
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
  return [...findings, ...((await findIn(config, (db) => findBillingState(db, config))) ?? [])]
}

async function findBillingState(db: Db, config: Config): Promise<Finding[]> {
  const state = checkBillingState(await countBilling(db), Date.now())
  return [...state, ...(await checkMismatches(db, config))]
}

/** Returns null if there is none, or if the database cannot be read. */
async function findAccount(config: Config): Promise<AccountOrigin> {
  if (hasAccount(config.download)) return 'settings'
  return (await readDatabase(config, (db) => findAccountOrigin(config, db))) ?? null
}

/** Finds nothing if the database cannot be read, which the check of the database reports. */
async function findIn(config: Config, find: (db: Db) => Promise<Finding[]>): Promise<Finding[]> {
  return (await readDatabase(config, find)) ?? []
}

/** Returns undefined if the database cannot be read. */
async function readDatabase<Found>(
  config: Config,
  find: (db: Db) => Promise<Found>,
): Promise<Found | undefined> {
  try {
    if (config.postgres === undefined) return await readFile(join(config.dataDir, 'app.db'), find)
    const { readPostgres } = await import('./doctor/inspect-postgres.ts')
    return await readPostgres(config.postgres, find)
  } catch {
    return undefined
  }
}

async function readFile<Found>(
  database: string,
  find: (db: Db) => Promise<Found>,
): Promise<Found | undefined> {
  if (pendingMigrations(database).length > 0) return undefined
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
    // A comparison writes nothing, so it remembers no trial.
    const secrets = () => Promise.reject(new Error('the doctor reads no secrets'))
    const accounts = { db, plans, now: Date.now(), command: commandText('doctor'), secrets }
    return checkMirror(await findMismatches(openBilling(accounts, stripe), accounts, 'compare'))
  } catch (error) {
    return [wrong(`Cannot compare with Stripe: ${reasonOf(error)}`, 'see the other findings')]
  }
}

function print(name: string, finding: Finding): void {
  const start = `${finding.state.padEnd(7)}  ${name.padEnd(10)}  `
  process.stdout.write(`${start}${finding.text}\n`)
  if (finding.state === 'ok') return
  process.stdout.write(`${' '.repeat(start.length)}→ ${finding.advice}\n`)
  if (finding.state === 'wrong') process.exitCode = 1
}
