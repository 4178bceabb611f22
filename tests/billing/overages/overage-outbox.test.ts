import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { alignKeyExpiry } from '../../../lib/access/key-expiry.ts'
import { createBilling } from '../../../lib/billing/billing.ts'
import { createOverages, type Overages } from '../../../lib/billing/overages/overages.ts'
import { openDb } from '../../../lib/db/open.ts'
import { runInTransaction } from '../../../lib/db/transaction.ts'
import { write } from '../../support/database/sql.ts'
import { freshly } from '../../support/scene/freshly.ts'
import {
  ask,
  CAP,
  endOf,
  meteredUnits,
  type OverageShop,
  openShopOverCap,
  readOne,
  setOverages,
  subscribe,
  sync,
  unitsOf,
} from './overages.ts'

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const meterCalls = ({ double }: OverageShop) =>
  double.calls().filter(({ path }) => path === '/v2/billing/meter_events').length

/** Adds a report of one unit that may have arrived, and two units of another user. Returns that user. */
async function addDoubtAndDue(at: Awaited<ReturnType<typeof openShopOverCap>>) {
  const other = await subscribe(at, { email: 'bob@example.com' })
  await setOverages(at.app, other.key, true)
  await at.ask(1)
  at.double.failCalls({ kind: 'lost' })
  await assert.rejects(at.overages.reportAll(at.userId))
  at.double.clearFaults()
  await ask(at.app, other.key, CAP + 2)
  forgetIdentifiers(at)
  at.pass(DAY)
  return other
}

describe('the outbox of overages', () => {
  const at = freshly(openShopOverCap)

  for (const kind of ['lost', 'reset', '500', '429'] as const) {
    it(`delivers once a report that failed at first: ${kind}`, async () => {
      await at.ask(2)
      at.double.failCalls({ kind })
      await assert.rejects(at.overages.reportAll(at.userId), { code: 'BILLING_UNAVAILABLE' })
      at.double.clearFaults()
      await at.ask(3)
      await at.overages.reportAll(at.userId)
      assert.deepEqual(unitsOf(at), [2, 3])
    })
  }

  it('is sent by the next process if the first could not', async () => {
    await at.ask(2)
    at.double.failCalls({ kind: '500' })
    await assert.rejects(at.overages.reportDue())
    const app = await at.app.restart()
    await app.services.overages.reportDue()
    assert.deepEqual(unitsOf(at), [2])
    await app.close()
  })

  it('waits longer after each failure of Stripe', async () => {
    await at.ask(1)
    at.double.failCalls({ kind: '500' }, 100)
    let tries = 0
    for (let seconds = 0; seconds < 600; seconds += 5) {
      await at.overages.reportDue().catch(() => {
        tries += 1
      })
      at.pass(5 * SECOND)
    }
    assert.ok(tries < 15, `${tries}`)
    at.double.clearFaults()
    at.pass(MINUTE)
    await at.overages.reportDue()
    assert.deepEqual(unitsOf(at), [1])
  })

  it('logs a refusal once, tries again every hour, and does not hold up other users', async () => {
    const other = await subscribe(at, { email: 'bob@example.com' })
    await setOverages(at.app, other.key, true)
    await at.ask(1)
    await ask(at.app, other.key, CAP + 2)
    const name = 'UPDATE overage_periods SET customer_id = ? WHERE user_id = ?'
    await write(at.app, name, '', at.userId)
    const calls = meterCalls(at)
    for (let minutes = 0; minutes < 180; minutes += 1) {
      await at.overages.reportDue()
      at.pass(MINUTE)
    }
    assert.equal(meteredUnits(at, other.customer), 2)
    const logged = at.log.events.filter(({ message }) =>
      message.startsWith('Stripe refuses an overage report'),
    )
    assert.equal(logged.length, 1)
    assert.equal(meterCalls(at) - calls, 1 + 3)
    assert.equal(await readOne(at, 'SELECT count(*) FROM overage_reports WHERE refused_at > 0'), 1)
    await write(
      at.app,
      "UPDATE overage_reports SET customer_id = ? WHERE customer_id = ''",
      at.customer,
    )
    at.pass(HOUR)
    await at.overages.reportDue()
    assert.deepEqual(unitsOf(at), [1])
  })

  for (const [outcome, kind] of [
    ['arrived', 'lost'],
    ['did not arrive', 'reset'],
  ] as const) {
    it(`asks Stripe for the units once Stripe has forgotten the identifiers: the report ${outcome}`, async () => {
      await at.ask(1)
      await at.overages.reportAll(at.userId)
      await at.ask(4)
      at.double.failCalls({ kind })
      await assert.rejects(at.overages.reportAll(at.userId))
      at.double.clearFaults()
      forgetIdentifiers(at)
      at.pass(DAY)
      const before = meterCalls(at)
      await at.overages.reportDue()
      assert.equal(meteredUnits(at, at.customer), 5)
      assert.equal(meterCalls(at) - before, outcome === 'arrived' ? 0 : 1)
      await at.overages.reportDue()
      assert.equal(
        await readOne(at, 'SELECT count(*) FROM overage_reports WHERE sent_at IS NULL'),
        0,
      )
    })
  }

  it('does not hold up other users if it cannot ask Stripe because a price is no longer configured', async () => {
    const other = await addDoubtAndDue(at)
    await using app = await at.app.restart({ STRIPE_PRICE_OVERAGE: '' })
    await app.services.overages.reportDue()
    assert.equal(meteredUnits(at, other.customer), 2)
    assert.deepEqual(unitsOf(at), [1])
  })

  it('does not hold up other users if the key may not read the price', async () => {
    const other = await addDoubtAndDue(at)
    at.double.failCalls({ kind: '403', method: 'GET' })
    await at.overages.reportDue()
    assert.equal(meteredUnits(at, other.customer), 2)
    assert.equal(await readOne(at, 'SELECT count(*) FROM overage_reports WHERE refused_at > 0'), 1)
  })

  it('asks Stripe which units have arrived before it moves units to the next invoice', async () => {
    await at.ask(4)
    at.pass((await endOf(at)) - at.clock.now)
    at.double.failCalls({ kind: 'lost' })
    await assert.rejects(at.overages.reportAll(at.userId))
    at.double.clearFaults()
    forgetIdentifiers(at)
    at.pass(2 * HOUR)
    await sync(at, at.userId)
    await at.overages.reportDue()
    assert.deepEqual(unitsOf(at), [4])
  })

  for (const [when, passes] of [
    ['in its period', 0],
    ['on the next invoice, since its own was closed', 2 * HOUR],
  ] as const) {
    it(`asks Stripe about a report that was sent ${when}, but is unsent in a restored day-old backup`, async () => {
      await at.ask(4)
      if (passes > 0) at.pass((await endOf(at)) - at.clock.now)
      at.double.failCalls({ kind: 'reset' })
      await assert.rejects(at.overages.reportAll(at.userId))
      at.double.clearFaults()
      const madeAt = await readOne(at, 'SELECT at FROM overage_reports')
      at.pass(passes)
      await sync(at, at.userId)
      await at.overages.reportDue()
      assert.equal(meteredUnits(at, at.customer), 4)
      const restore = 'UPDATE overage_reports SET at = ?, first_tried_at = NULL, sent_at = NULL'
      await write(at.app, restore, madeAt)
      forgetIdentifiers(at)
      at.pass(DAY)
      await at.overages.reportDue()
      assert.equal(meteredUnits(at, at.customer), 4)
      assert.equal(
        await readOne(at, 'SELECT count(*) FROM overage_reports WHERE sent_at IS NULL'),
        0,
      )
    })
  }

  it('does not charge twice for units reported after a backup that is restored the same day', async () => {
    await at.ask(2)
    await at.overages.reportAll(at.userId)
    await write(
      at.app,
      'DELETE FROM overage_reports;\nUPDATE usage_by_period SET overage_reported = 0',
    )
    await at.ask(1)
    await at.overages.reportAll(at.userId)
    assert.deepEqual(unitsOf(at), [2])
    await at.ask(3)
    await at.overages.reportAll(at.userId)
    assert.deepEqual(unitsOf(at), [2, 3])
  })

  it('sends nothing twice with two processes on one database', async () => {
    await using second = openSecond(at)
    for (let round = 0; round < 5; round++) {
      await at.ask(3)
      await Promise.all([
        at.overages.reportAll(at.userId),
        second.overages.reportAll(at.userId),
        second.overages.reportAll(at.userId),
      ])
      await at.overages.reportAll(at.userId)
      assert.equal(meteredUnits(at, at.customer), 3 * (round + 1))
    }
  })

  it('keeps reports that were not sent, whatever the clock says', async () => {
    await at.ask(1)
    at.double.failCalls({ kind: '500' })
    await assert.rejects(at.overages.reportAll(at.userId))
    at.double.clearFaults()
    at.clock.now += 200 * DAY
    await at.overages.removeOld()
    assert.equal(await readOne(at, 'SELECT count(*) FROM overage_reports WHERE sent_at IS NULL'), 1)
  })

  it('removes reports after seventy days', async () => {
    await at.ask(1)
    await at.overages.reportDue()
    at.clock.now += 69 * DAY
    await at.overages.removeOld()
    assert.equal(await readOne(at, 'SELECT count(*) FROM overage_reports'), 1)
    at.clock.now += 35 * DAY
    await at.overages.removeOld()
    assert.equal(await readOne(at, 'SELECT count(*) FROM overage_reports'), 0)
    assert.equal(await readOne(at, 'SELECT count(*) FROM overage_periods'), 0)
  })
})

/** Does what Stripe may do after a day: keeps the events, but forgets their identifiers. */
function forgetIdentifiers({ double }: OverageShop): void {
  const { meterEvents: events } = double.world.state
  for (const [identifier, event] of [...events]) {
    events.delete(identifier)
    events.set(`forgotten ${identifier}`, event)
  }
}

/** Opens the database again, as another process would. */
function openSecond({
  app,
  clock,
}: OverageShop): { readonly overages: Overages } & AsyncDisposable {
  const { config, plans } = app.services
  const db = openDb(`${app.dataDir}/app.db`)
  const billing = createBilling({
    db,
    plans,
    stripe: config.stripe,
    change: (statements) => runInTransaction(db, statements),
    alignKeyExpiry: (userId) => alignKeyExpiry(db, plans, clock.now, userId),
    auditStripe: () => assert.fail(),
    countRequests: () => assert.fail(),
    secrets: () => assert.fail(),
    onFailure: () => {},
  })
  const overages = createOverages({
    billing,
    flush: async () => {},
    now: () => clock.now,
    onRefused: ({ identifier }) => assert.fail(identifier),
  })
  return {
    overages,
    [Symbol.asyncDispose]: async () => {
      db.$client.close()
    },
  }
}
