import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { NOON } from '../support/helpers.ts'
import { HOST, type Proving, SHOP, startProving } from './proving.ts'

let at: Proving
beforeEach(async () => {
  at = await startProving()
})
afterEach(() => at[Symbol.asyncDispose]())

describe('The daily check of proofs', () => {
  it('ends a proof after a week without the record, and then nobody receives', async () => {
    const [first, proven] = [await at.register('first'), await at.register('proven')]
    await at.prove(proven)
    at.dns.zone.delete(HOST)
    await at.passDays(7)
    const { state, receives, missingSince } = await proven.proof()
    assert.deepEqual([state, receives], ['proven', true])
    assert.equal(missingSince, new Date(NOON + DAY_MS).toISOString())
    await at.passDays(1)
    assert.deepEqual((await proven.proof()).state, 'unproven')
    assert.equal((await first.proof()).receives, false)
    await at.sendBeacon(SHOP, 403)
    assert.deepEqual((await proven.actions()).slice(2), [
      `gain_site ${SHOP}`,
      `lose_proof ${SHOP}`,
      `lose_site ${SHOP}`,
    ])
    assert.deepEqual((await first.actions()).slice(1), [`lose_site ${SHOP}`])
  })

  it('leaves the telemetry to the first registration if it was the one with the proof', async () => {
    const alice = await at.register('alice')
    await at.prove(alice)
    const late = await at.register('late', 'http://shop.example')
    at.dns.zone.delete(HOST)
    await at.passDays(8)
    const { state, receives } = await alice.proof()
    assert.deepEqual([state, receives], ['unproven', true])
    assert.equal((await late.proof()).receives, false)
    await at.sendBeacon('http://shop.example', 403)
  })

  it('keeps a proof whose record is back within the week', async () => {
    const { record, proof, ...alice } = await at.register('alice')
    await at.prove({ record, proof, ...alice })
    at.dns.zone.delete(HOST)
    await at.passDays(6)
    at.dns.zone.set(HOST, [record])
    await at.passDays(1)
    assert.equal((await proof()).missingSince, null)
    at.dns.zone.delete(HOST)
    await at.passDays(7)
    assert.equal((await proof()).state, 'proven')
  })

  it('keeps a proof for as long as the DNS gives no answer', async () => {
    const alice = await at.register('alice')
    await at.prove(alice)
    at.dns.zone.set(HOST, 'broken')
    await at.passDays(30)
    const { state, missingSince, checkedAt } = await alice.proof()
    assert.deepEqual([state, missingSince], ['proven', null])
    assert.equal(checkedAt, new Date(NOON).toISOString())
  })

  it('asks at most once a day, and never for unproven sites', async () => {
    const alice = await at.register('alice')
    const bob = await at.register('bob', 'https://blog.example')
    await at.prove(alice)
    at.pass(DAY_MS - 1)
    await at.app.services.siteProofs.checkDue()
    assert.equal((await alice.proof()).checkedAt, new Date(NOON).toISOString())
    at.pass(1)
    await at.app.services.siteProofs.checkDue()
    assert.equal((await alice.proof()).checkedAt, new Date(at.now()).toISOString())
    assert.equal((await bob.proof()).checkedAt, null)
  })
})
