import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { SiteProof } from '../../lib/contract/account/site-proof.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { codeOf, NOON } from '../support/helpers.ts'
import { freshly } from '../support/scene/freshly.ts'
import { HOST, SHOP, SITES, startProving } from './proving.ts'

const at = freshly(startProving)

const audited = (...actions: readonly string[]) => actions.map((action) => `${action} ${SHOP}`)

describe('The telemetry of an origin', () => {
  it('goes to the account that registered it first, and to no other', async () => {
    const alice = await at.register('alice')
    const mallory = await at.register('mallory')
    await at.sendBeacon()
    assert.equal(await alice.beacons(), 1)
    assert.equal(await mallory.beacons(), 0)
    assert.equal(await at.storedBeacons(), 1)
    assert.equal((await alice.proof()).receives, true)
    assert.equal((await mallory.proof()).receives, false)
  })

  it('goes to the account that proves the domain, and older rows stay', async () => {
    const mallory = await at.register('mallory')
    const alice = await at.register('alice')
    await at.sendBeacon()
    await at.prove(alice)
    await at.sendBeacon()
    assert.deepEqual([await mallory.beacons(), await alice.beacons()], [1, 1])
    assert.deepEqual(await mallory.actions(), audited('create_site', 'lose_site'))
    assert.deepEqual(await alice.actions(), audited('create_site', 'prove_site', 'gain_site'))
  })

  it('goes to the newest proof, even within one millisecond; checking an old one changes nothing', async () => {
    const seller = await at.register('seller')
    const buyer = await at.register('buyer')
    await at.prove(seller)
    await at.prove(buyer, [seller.record])
    at.pass(DAY_MS)
    const checked = v.parse(SiteProof, (await seller.check()).body)
    assert.deepEqual([checked.state, checked.receives], ['proven', false])
    await at.sendBeacon()
    assert.deepEqual([await seller.beacons(), await buyer.beacons()], [0, 1])
  })

  it('goes to the account that proved the host, for every scheme and port but no subdomain', async () => {
    const mallory = await at.register('mallory', 'http://shop.example')
    const alice = await at.register('alice')
    await at.prove(alice)
    const late = await at.register('late', 'https://shop.example:8443')
    await at.sendBeacon('http://shop.example', 403)
    await at.sendBeacon('https://shop.example:8443', 403)
    const lost = ['create_site', 'lose_site'].map((action) => `${action} http://shop.example`)
    assert.deepEqual(await mallory.actions(), lost)
    assert.equal((await late.proof()).receives, false)
    const other = await at.register('alice', 'http://shop.example')
    await at.sendBeacon('http://shop.example')
    const { state, receives, record } = await other.proof()
    assert.deepEqual([state, receives, record?.value], ['proven', true, alice.record])
    const www = await at.register('bob', 'https://www.shop.example')
    assert.equal((await www.proof()).receives, true)
  })

  it('goes, if two users have proved the host, to the one who registered the origin', async () => {
    const shop = await at.register('shop')
    const admin = await at.register('admin', 'https://shop.example:8443')
    await at.prove(shop)
    await at.prove(admin, [shop.record])
    assert.deepEqual([(await shop.proof()).receives, (await admin.proof()).receives], [true, true])
  })

  it('goes to nobody once the owner has removed the site, until somebody proves the domain', async () => {
    const [alice, mallory] = [await at.register('alice'), await at.register('mallory')]
    await alice.remove()
    await at.sendBeacon(SHOP, 403)
    const again = await at.register('alice')
    await at.sendBeacon(SHOP, 403)
    assert.deepEqual([await mallory.beacons(), await again.beacons()], [0, 0])
    assert.deepEqual(await mallory.actions(), [`create_site ${SHOP}`])
    await at.prove(again)
    await at.sendBeacon()
    assert.deepEqual([await mallory.beacons(), await again.beacons()], [0, 1])
  })

  it('goes to a new registration once nobody has registered the origin', async () => {
    await (await at.register('alice')).remove()
    const bob = await at.register('bob')
    await at.sendBeacon()
    assert.equal(await bob.beacons(), 1)
  })

  it('goes to the first registration even if the clock went back before the second', async () => {
    const alice = await at.register('alice')
    at.pass(-DAY_MS)
    await at.register('mallory')
    at.pass(DAY_MS)
    assert.equal((await alice.proof()).receives, true)
  })
})

describe('GET /v1/account/me/sites/{siteId}/proof', () => {
  it('shows the record to put into the DNS', async () => {
    const { proof, record } = await at.register('alice', 'https://shop.example:8443')
    const names = [HOST, `_meridian.${HOST}`]
    const unchecked = { provenAt: null, missingSince: null, checkedAt: null }
    assert.deepEqual(await proof(), {
      ...{ state: 'unproven', receives: true, ...unchecked },
      record: { type: 'TXT', names, value: record },
    })
  })

  it('is 404 for the site of another user, like the check', async () => {
    const [alice, mallory] = [await at.register('alice'), await at.register('mallory')]
    for (const method of ['GET', 'POST']) {
      const path = `${SITES}/${alice.id}/proof`
      assert.equal(codeOf(await at.app.send(method, path, { key: mallory.key })), 'NOT_FOUND')
    }
  })

  it('says that localhost and IP addresses cannot be proved', async () => {
    const origins = ['http://localhost:3000', 'http://shop.localhost', 'http://192.0.2.1']
    for (const [n, origin] of [...origins, 'http://[2001:db8::1]'].entries()) {
      const { proof, check } = await at.register(`user${n}`, origin)
      const { state, record } = await proof()
      assert.deepEqual({ state, record }, { state: 'impossible', record: null }, origin)
      const refused = await check()
      assert.equal(codeOf(refused), 'BAD_REQUEST')
      assert.match(refused.text, /cannot be proved: the public DNS does not cover its host/)
    }
  })
})

describe('POST /v1/account/me/sites/{siteId}/proof', () => {
  it('accepts the record among others, at the host or below _meridian', async () => {
    const { record, check, remove } = await at.register('alice')
    at.dns.zone.set(`_meridian.${HOST}`, ['v=spf1 -all', record])
    const { state, provenAt, checkedAt } = v.parse(SiteProof, (await check()).body)
    const noon = new Date(NOON).toISOString()
    assert.deepEqual([state, provenAt, checkedAt], ['proven', noon, noon])
    await remove()
    await at.prove(await at.register('bob'), ['v=spf1 -all', record])
  })

  it('accepts no record of another site, and none of another host', async () => {
    const [alice, mallory] = [await at.register('alice'), await at.register('mallory')]
    at.dns.zone.set(HOST, [alice.record, `${mallory.record}x`, 'meridian-site='])
    at.dns.zone.set('example', [mallory.record]).set(`www.${HOST}`, [mallory.record])
    const { state, checkedAt } = v.parse(SiteProof, (await mallory.check()).body)
    assert.deepEqual([state, checkedAt], ['unproven', new Date(NOON).toISOString()])
    assert.deepEqual(await mallory.actions(), [`create_site ${SHOP}`])
  })

  it('answers 503 and changes nothing if the DNS gives no answer', async () => {
    const { check, proof, record } = await at.register('alice')
    const before = await proof()
    at.dns.zone.set(HOST, 'broken')
    assert.equal(codeOf(await check()), 'SERVICE_UNAVAILABLE')
    assert.deepEqual(await proof(), before)
    at.dns.zone.set(`_meridian.${HOST}`, [record])
    assert.equal((await check()).status, 200)
  })

  it('adds no entry to the audit log if the owner stays the same', async () => {
    const alice = await at.register('alice')
    await at.prove(alice)
    await alice.check()
    assert.deepEqual(await alice.actions(), audited('create_site', 'prove_site'))
  })
})

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
    assert.deepEqual(
      (await proven.actions()).slice(2),
      audited('gain_site', 'lose_proof', 'lose_site'),
    )
    assert.deepEqual((await first.actions()).slice(1), audited('lose_site'))
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
