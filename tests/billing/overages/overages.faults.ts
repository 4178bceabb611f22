import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { createBilling } from '../../lib/billing/billing.ts'
import { readConfig } from '../../lib/config.ts'
import { openDb } from '../../lib/db/open.ts'
import { unit } from '../../lib/db/unit.ts'
import { readPlans } from '../../lib/plans.ts'
import { newDataFolder, type Running, runScript, startServer } from '../e2e/process.ts'
import { CAP, meteredUnits, sellingEnv, startPaying } from '../overages.ts'
import { startDouble } from '../stripe-double/start.ts'

/*
 * The process is killed with kill -9 while it reports, tells the double and marks what was told. At
 * last the double was told of exactly what is counted. The process looks every ten seconds.
 */

/** Where it is killed: told is what the double knows. */
const STEPS = ['reported', 'told', 'any time', 'reported', 'told', 'any time'] as const
const REQUESTS = 20

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

/** As a minute later. */
const letReport = () => query('UPDATE usage_by_period SET overage_reported_at = 0')

async function ask({ url }: Running, key: string): Promise<void> {
  for (let n = 0; n < REQUESTS; n++) {
    const answer = await fetch(`${url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': key } })
    assert.equal(answer.status, 200)
    await answer.text()
  }
}

/** A minute is enough on the busiest machine. */
async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 60_000; !holds(); await sleep(2)) {
    assert.ok(performance.now() < end, 'it does not happen')
  }
}

describe('kill -9 while overages are reported', () => {
  it('neither loses nor repeats a unit', async () => {
    await using at = await startDouble({ realNow: Date.now })
    const settings = { ...folder, ...sellingEnv(at) }
    const made = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'a', '--plan', 'free']
    const key = (await runScript(made, settings)).stdout.trim()
    const customer = await makeOver(at, settings)
    let rounds = 0
    for (const step of STEPS) {
      rounds += 1
      letReport()
      const server = await startServer(settings)
      await ask(server, key)
      const toldBefore = meteredUnits(at, customer)
      if (step === 'reported') {
        at.double.failCalls({ kind: 'slow', delayMs: 500 })
        await until(() => unsent() === 1)
      } else if (step === 'told') {
        await until(() => meteredUnits(at, customer) > toldBefore)
      } else {
        await sleep(Math.random() * 12_000)
      }
      await server.stop('SIGKILL')
      at.double.clearFaults()
      assert.ok(meteredUnits(at, customer) <= counted(), step)
    }
    letReport()
    const last = await startServer(settings)
    await until(() => unsent() === 0 && meteredUnits(at, customer) === counted())
    await last.stop('SIGTERM')
    const units = meteredUnits(at, customer)
    assert.equal(units, counted())
    assert.ok(units > 0 && units <= rounds * REQUESTS - CAP, `${units}`)
  })
})

/** Has the one user pay for the plan pro and for what is over its cap. Returns the customer. */
async function makeOver(
  { stripe, pro, overage }: Awaited<ReturnType<typeof startDouble>>,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const config = readConfig(settings)
  const db = openDb(file)
  const billing = createBilling({
    db,
    plans: readPlans(config.plansFile),
    stripe: config.stripe,
    change: (statements) => unit(db, statements),
    auditTold: () => assert.fail(),
    onTrouble: () => {},
  })
  const userId = String(query('SELECT id FROM users'))
  const { customer, subscription } = await startPaying(stripe, billing, { userId, price: pro })
  const metadata = { meridian_overages: 'on' }
  await stripe.subscriptions.update(subscription, { metadata, items: [{ price: overage }] })
  await billing.sync(billing.begin(), userId)
  db.$client.close()
  return customer
}
