import { join } from 'node:path'
import { listBackups } from '../lib/backup/backup-folder.ts'
import { createPlanPrices } from '../lib/billing/plan-prices.ts'
import { type Config, readConfig } from '../lib/config.ts'
import { countBilling } from '../lib/db/inspect.ts'
import { checkAuth } from '../lib/doctor/check-auth.ts'
import { checkBackups } from '../lib/doctor/check-backups.ts'
import { checkAccount } from '../lib/doctor/check-billing.ts'
import { checkBillingState } from '../lib/doctor/check-billing-state.ts'
import { checkConfig } from '../lib/doctor/check-config.ts'
import { checkClock, checkDatabase } from '../lib/doctor/check-database.ts'
import { checkDisk, readDisk } from '../lib/doctor/check-disk.ts'
import { checkFolder } from '../lib/doctor/check-folder.ts'
import { checkDownloads, checkGeo } from '../lib/doctor/check-geo.ts'
import { checkMail } from '../lib/doctor/check-mail.ts'
import { type Check, type Finding, findAll } from '../lib/doctor/finding.ts'
import { findLastDownload } from '../lib/geo/last-download.ts'
import { readPlans } from '../lib/plans.ts'
import { isDownloading } from '../lib/services/downloads.ts'
import { readGeoFiles } from './geo-versions.ts'
import { splitOptions } from './options.ts'
import { run } from './run.ts'

const USAGE = `Usage: npm run doctor
Looks at what a server needs, as the environment sets it up, and says what to do about what is
wrong. Changes nothing; a server may run. The exit code is 1 if something is wrong.`

await run(async () => {
  splitOptions(process.argv.slice(2), {}, USAGE)
  for (const check of checksOf(readConfig(process.env))) {
    for (const finding of await findAll(check)) print(check.name, finding)
  }
})

function checksOf(config: Config): Check[] {
  const { dataDir, backupDir, smtpUrl, authUrl } = config
  const database = join(dataDir, 'app.db')
  const checks: Check[] = [
    { name: 'Settings', find: async () => checkConfig(config) },
    { name: 'Folder', find: async () => checkFolder(dataDir) },
    { name: 'Disk', find: async () => checkDisk(readDisk(dataDir)) },
    { name: 'Clock', find: async () => checkClock(database, Date.now()) },
    { name: 'Database', find: async () => checkDatabase(database) },
    { name: 'Geo files', find: () => findGeo(config) },
    {
      name: 'Backups',
      find: async () => {
        const [latest] = await listBackups(backupDir)
        return checkBackups(backupDir, latest?.createdAt, Date.now())
      },
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

async function findGeo(config: Config): Promise<Finding[]> {
  const files = checkGeo(await readGeoFiles(config), Date.now())
  if (!isDownloading(config)) return files
  const now = Date.now()
  return [...files, checkDownloads(findLastDownload(join(config.dataDir, 'geo'), now), now)]
}

async function findBilling(secretKey: string, config: Config): Promise<Finding[]> {
  // The SDK takes long to load.
  const { createAccountReader } = await import('../lib/billing/account-reader.ts')
  const { stripe, plansFile, dataDir } = config
  const known = readPlans(plansFile)
  const { priceOf } = createPlanPrices(known, stripe.prices)
  const paid = known.list.filter(({ price }) => price > 0)
  const plans = paid.map((plan) => ({ id: plan.id, amount: plan.price, priceId: priceOf(plan) }))
  const account = createAccountReader(secretKey, stripe)
  const { overagePrice, webhookSecrets } = stripe
  const findings = await checkAccount(account, { plans, overagePrice, webhookSecrets })
  const state = countBilling(join(dataDir, 'app.db'))
  return state === undefined ? findings : [...findings, ...checkBillingState(state, Date.now())]
}

function print(name: string, finding: Finding): void {
  const start = `${finding.state.padEnd(7)}  ${name.padEnd(9)}  `
  process.stdout.write(`${start}${finding.text}\n`)
  if (finding.state === 'ok') return
  process.stdout.write(`${' '.repeat(start.length)}→ ${finding.advice}\n`)
  if (finding.state === 'wrong') process.exitCode = 1
}
