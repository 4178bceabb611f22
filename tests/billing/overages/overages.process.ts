import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { alignKeyExpiry } from '../../../lib/access/key-expiry.ts'
import { createBilling } from '../../../lib/billing/billing.ts'
import { sync } from '../../../lib/billing/subscription/sync.ts'
import { readConfig } from '../../../lib/config/config.ts'
import { readPlans } from '../../../lib/config/plans.ts'
import { openDb } from '../../../lib/db/open.ts'
import { runInTransaction } from '../../../lib/db/transaction.ts'
import { startDouble } from '../../stripe-double/start.ts'
import { newDataFolder, type Running, runScript, startServer } from '../../support/process.ts'
import { meteredUnits, sellingEnv, startPaying } from './overages.ts'

// run: only on Node.js

/*
 * The process is killed with kill -9 while it writes reports, sends them and marks them as sent. In the
 * end the double has received exactly the units counted, which are those that the spending cap pays for.
 * The process looks for due reports every ten seconds.
 */

/** When the process is killed: after it writes a report, after the double receives one, or at random. */
const STEPS = ['reported', 'received', 'any time', 'reported', 'received', 'any time'] as const
const REQUESTS = 20
/** In cents. The price of a unit is a tenth of a cent. */
const SPENDING_CAP = 7
const MOST_UNITS = 70

const { dataDir, settings: folder, remove } = newDataFolder()
after(remove)

const file = join(dataDir, 'app.db')

function query(sql: string): unknown {
  const db = new Sqlite(file)
  try {
    const statement = db.prepare(sql)
    return statement.reader ? statement.pluck().get() : statement.run()
  } finally {
    db.close()
  }
}

const counted = () => Number(query('SELECT coalesce(sum(overage), 0) FROM usage_by_period'))
const unsent = () => Number(query('SELECT count(*) FROM overage_reports WHERE sent_at IS NULL'))

/** The server reads it in the background; until then nothing is charged. */
const isPriceKnown = () => query('SELECT count(*) FROM overage_prices') === 1

/** Makes the next report due, as if a minute had passed. */
const makeReportDue = () => query('UPDATE usage_by_period SET overage_reported_at = 0')

/** Sends requests in parallel. Returns whether the last was reduced. */
async function ask({ url }: Running, key: string): Promise<boolean> {
  const answers = Array.from({ length: REQUESTS }, async () => {
    const answer = await fetch(`${url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': key } })
    assert.equal(answer.status, 200)
    return (await answer.text()).includes('"degraded":true')
  })
  return (await Promise.all(answers)).at(-1) === true
}

/** A minute is enough even on a busy machine. */
async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 60_000; !holds(); await sleep(2)) {
    assert.ok(performance.now() < end, 'the condition did not become true within a minute')
  }
}

describe('kill -9 while overages are reported', () => {
  it('neither loses nor repeats a unit, and charges none above the spending cap', async () => {
    await using at = await startDouble({ realNow: Date.now })
    const settings = { ...folder, ...sellingEnv(at) }
    const made = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'a', '--plan', 'free']
    const key = (await runScript(made, settings)).stdout.trim()
    const customer = await subscribeWithOverages(at, settings)
    query(`INSERT INTO spending_caps SELECT id, 'usd', ${SPENDING_CAP} FROM users`)
    for (const step of STEPS) {
      makeReportDue()
      const server = await startServer(settings)
      await until(isPriceKnown)
      await ask(server, key)
      await waitFor(step, at, customer)
      await server.stop('SIGKILL')
      at.double.clearFaults()
      assert.ok(meteredUnits(at, customer) <= counted() && counted() <= MOST_UNITS, step)
    }
    makeReportDue()
    const last = await startServer(settings)
    while (!(await ask(last, key))) assert.ok(counted() <= MOST_UNITS)
    await until(() => unsent() === 0 && meteredUnits(at, customer) === MOST_UNITS)
    await last.stop('SIGTERM')
    assert.equal(counted(), MOST_UNITS)
    assert.equal(meteredUnits(at, customer), MOST_UNITS)
  })
})

async function waitFor(
  step: (typeof STEPS)[number],
  at: Awaited<ReturnType<typeof startDouble>>,
  customer: string,
): Promise<void> {
  const unitsBefore = meteredUnits(at, customer)
  // Once the cap is reached there may be nothing to report.
  const isSpent = () => counted() === MOST_UNITS
  if (step === 'reported') {
    at.double.failCalls({ kind: 'slow', delayMs: 2_000, method: 'POST' })
    await until(() => unsent() === 1 || isSpent())
  } else if (step === 'received') {
    await until(() => meteredUnits(at, customer) > unitsBefore || isSpent())
  } else {
    await sleep(Math.random() * 12_000)
  }
}

/** Subscribes the only user to the plan pro with overages. Returns the customer. */
async function subscribeWithOverages(
  { stripe, pro, overage }: Awaited<ReturnType<typeof startDouble>>,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const config = readConfig(settings)
  const db = openDb(file)
  const billing = createBilling({
    db,
    plans: readPlans(config.plansFile),
    stripe: config.stripe,
    change: (statements) => runInTransaction(db, statements),
    alignKeyExpiry: (userId) => alignKeyExpiry(db, readPlans(config.plansFile), Date.now(), userId),
    auditStripe: () => assert.fail(),
    countRequests: () => assert.fail(),
    secrets: () => assert.fail(),
    onFailure: () => {},
  })
  const userId = String(query('SELECT id FROM users'))
  const { customer, subscription } = await startPaying(stripe, billing, { userId, price: pro })
  const metadata = { meridian_overages: 'on' }
  await stripe.subscriptions.update(subscription, { metadata, items: [{ price: overage }] })
  await sync(billing, billing.openStripe(), userId)
  db.$client.close()
  return customer
}
