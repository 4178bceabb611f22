import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OVERAGE_EVENT } from '../../../lib/billing/overages/send-report.ts'
import { OVERAGE_EVENT as EVENT_OF_DOUBLE } from '../../../stripe-double/plans.ts'
import { freshly } from '../../support/scene/freshly.ts'
import {
  CAP,
  endOf,
  meterEvents,
  meteredUnits,
  openShopOverCap,
  readOne,
  setOverages,
  sync,
  unitsOf,
} from './overages.ts'

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('overages on invoices', () => {
  const at = freshly(openShopOverCap)

  it('are reported as meter events with the units over the cap and the time of the report', async () => {
    await at.ask(3)
    await at.overages.reportDue()
    assert.equal(OVERAGE_EVENT, EVENT_OF_DOUBLE)
    const [event, ...others] = at.double.world.state.meterEvents
    const start = Number(await readOne(at, 'SELECT period_start FROM subscriptions')) / 1000
    assert.equal(event?.[0], `ovg:${at.subscription}:${start}:0+`)
    assert.deepEqual(event?.[1].value, 3)
    assert.equal(event?.[1].timestamp, at.double.now())
    assert.deepEqual(others, [])
  })

  it('are reported once a minute, and at once in the last two minutes of a period', async () => {
    await at.ask(1)
    await at.overages.reportDue()
    await at.ask(1)
    at.pass(59 * SECOND)
    await at.overages.reportDue()
    assert.deepEqual(unitsOf(at), [1])
    await at.ask(1)
    at.pass(SECOND)
    await at.overages.reportDue()
    assert.deepEqual(unitsOf(at), [1, 2])
    at.pass((await endOf(at)) - 119 * SECOND - at.clock.now)
    for (let n = 0; n < 3; n++) {
      await at.ask(2)
      await at.overages.reportDue()
    }
    assert.deepEqual(unitsOf(at), [1, 2, 2, 2, 2])
  })

  it('do not include requests made while they were off, even if they are on later', async () => {
    await at.ask(2)
    await setOverages(at.app, at.key, false)
    await at.ask(10)
    await setOverages(at.app, at.key, true)
    await at.ask(3)
    await setOverages(at.app, at.key, false)
    await at.ask(10)
    await at.overages.reportAll(at.userId)
    assert.equal(meteredUnits(at, at.customer), 5)
  })

  it('appear on the invoice of their period, which is a draft for an hour', async () => {
    await at.ask(4)
    await at.overages.reportDue()
    await at.ask(7)
    at.pass((await endOf(at)) + 10 * MINUTE - at.clock.now)
    await sync(at, at.userId)
    await at.overages.reportAll(at.userId)
    at.pass(HOUR)
    const [renewal] = (await at.stripe.invoices.list({ customer: at.customer })).data
    assert.equal(renewal?.lines.data.find(({ quantity }) => quantity === 11)?.amount, 1)
    const [, late] = meterEvents(at, at.customer)
    assert.equal(late?.timestamp, (at.clock.now - 10 * MINUTE - HOUR) / SECOND - 1)
  })

  it('appear on the last invoice of a subscription that ends with its period', async () => {
    await at.stripe.subscriptions.update(at.subscription, { cancel_at_period_end: true })
    await sync(at, at.userId)
    await at.ask(1_000)
    at.pass((await endOf(at)) - at.clock.now)
    assert.equal((await sync(at, at.userId)).after, null)
    await at.overages.reportDue()
    await at.app.services.reconciliation.run()
    at.pass(HOUR)
    const [last] = (await at.stripe.invoices.list({ customer: at.customer })).data
    assert.equal(last?.amount_due, 100)
  })

  it('appear on the next invoice if their own is closed', async () => {
    await at.ask(1_000)
    at.pass((await endOf(at)) + 2 * HOUR - at.clock.now)
    await sync(at, at.userId)
    await at.overages.reportDue()
    at.pass((await endOf(at)) + 2 * HOUR - at.clock.now)
    const [next, own] = (await at.stripe.invoices.list({ customer: at.customer })).data
    assert.equal(own?.amount_due, 2_900)
    assert.equal(next?.amount_due, 3_000)
  })

  it('are charged for a period that began before an event reported it', async () => {
    at.pass((await endOf(at)) + SECOND - at.clock.now)
    await at.ask(CAP + 2)
    await setOverages(at.app, at.key, false)
    await at.overages.reportAll(at.userId)
    assert.deepEqual(unitsOf(at), [2])
  })

  it('start from zero in each period', async () => {
    await at.ask(2)
    await at.overages.reportAll(at.userId)
    at.pass((await endOf(at)) - at.clock.now)
    await sync(at, at.userId)
    await at.ask(CAP)
    await at.overages.reportAll(at.userId)
    assert.deepEqual(unitsOf(at), [2])
    await at.ask(1)
    await at.overages.reportAll(at.userId)
    assert.deepEqual(unitsOf(at), [2, 1])
  })
})
