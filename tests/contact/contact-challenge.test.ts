import { write } from '../support/database/sql.ts'
// First: altcha-lib takes the function for hashes when it is loaded.
import '../support/quick/hashes.ts'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { deriveSecret } from '../../lib/config/secrets.ts'
import { createProofOfWork } from '../../lib/contact/proof-of-work.ts'
import { ContactChallenge } from '../../lib/contract/contact.ts'
import { openDb } from '../../lib/db/open.ts'
import { makeApp, type TestApp } from '../support/helpers.ts'
import { freshClient } from '../support/scene/send.ts'
import { CONTACT, INQUIRY, inquiries, outcomeOf } from './inquiry.ts'
import { solveChallenge } from './solve-challenge.ts'

describe('POST /v1/contact, checked by a proof of work', () => {
  let now = Date.now()
  let app: TestApp
  before(async () => {
    app = await makeApp({ env: { MERIDIAN_CONTACT: 'store' }, now: () => now })
  })
  after(() => app.close())
  const getChallenge = async () =>
    v.parse(ContactChallenge, (await app.send('GET', `${CONTACT}/challenge`)).body)
  const sendWith = async (verification: string, by: TestApp = app) =>
    outcomeOf(await by.send('POST', CONTACT, { body: { ...INQUIRY, verification } }))

  it('accepts a solution once, even if it is sent many times at once, and not after a restart', async () => {
    const answer = await solveChallenge(await getChallenge())
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => sendWith(answer)))
    assert.deepEqual(outcomes.toSorted().slice(0, 3), Array(3).fill('BOT_VERIFICATION_FAILED'))
    assert.equal(outcomes.toSorted()[3], 'ok')
    app = await app.restart()
    assert.equal(await sendWith(answer), 'BOT_VERIFICATION_FAILED')
    assert.equal((await inquiries(app)).length, 1)
  })

  it('refuses a changed challenge, but still accepts the original', async () => {
    const challenge = await getChallenge()
    const answer = await solveChallenge(challenge)
    const { solution } = JSON.parse(atob(answer))
    const { parameters, signature } = challenge
    const write = (value: unknown) => btoa(JSON.stringify(value))
    const changed = (change: object) =>
      write({ challenge: { parameters: { ...parameters, ...change }, signature }, solution })
    const bad = [
      ...[{ expiresAt: parameters.expiresAt + 1 }, { cost: 1 }, { keyPrefix: '00' }],
      ...[{ keySignature: parameters.salt }, { salt: parameters.nonce }, { data: { a: 1 } }],
      ...[{ expiresAt: undefined }, { keySignature: undefined }],
    ].map(changed)
    const others = [
      ...['rubbish', '!', btoa('null'), btoa('[]'), btoa('{"challenge":{}}')],
      write({ challenge, solution: { counter: 1, derivedKey: parameters.keyPrefix } }),
      write({ challenge, solution: { ...solution, derivedKey: '' } }),
      write({ challenge: { parameters, signature: signature.toUpperCase() }, solution }),
      write({ challenge: { parameters }, solution }),
    ]
    for (const text of [...bad, ...others]) {
      assert.equal(await sendWith(text), 'BOT_VERIFICATION_FAILED', text)
    }
    assert.equal(await sendWith(answer), 'ok')
    const reordered = Object.fromEntries(Object.entries(parameters).toReversed())
    const again = write({ solution, challenge: { signature, parameters: reordered } })
    assert.equal(await sendWith(again), 'BOT_VERIFICATION_FAILED')
  })

  it('does not use up a challenge if it answers 503', async () => {
    await using unset = await makeApp({ now: () => now })
    const challenge = (await unset.send('GET', `${CONTACT}/challenge`)).body
    const answer = await solveChallenge(v.parse(ContactChallenge, challenge))
    const twice = [await sendWith(answer, unset), await sendWith(answer, unset)]
    assert.deepEqual(twice, ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'])
    const ours = await solveChallenge(await getChallenge())
    await write(app, 'ALTER TABLE inquiries RENAME TO hidden')
    const failed = await app.send('POST', CONTACT, { body: { ...INQUIRY, verification: ours } })
    await write(app, 'ALTER TABLE hidden RENAME TO inquiries')
    assert.ok(failed.status >= 500)
    assert.equal(await sendWith(ours), 'ok')
  })

  it('refuses a name or company with line breaks, and a blank name', async () => {
    const verification = 'rubbish'
    const wrong = [
      { name: 'a\r\nb' },
      { name: ' ' },
      { company: 'a\nb' },
      { email: 'a@b.example\n' },
    ]
    for (const change of wrong) {
      const body = { ...INQUIRY, verification, ...change }
      assert.equal(outcomeOf(await app.send('POST', CONTACT, { body })), 'BAD_REQUEST')
    }
    const key = await app.makeKey()
    const body = { name: 'a\r\nb', message: 'Hello' }
    const answer = await app.send('POST', '/v1/billing/contact', { key, body })
    assert.equal(outcomeOf(answer), 'BAD_REQUEST')
  })

  it('refuses a challenge of another service', async () => {
    const other = createProofOfWork({ db: openDb(':memory:'), secret: 'a', keySecret: 'b' })
    const answer = await solveChallenge(await other.issue(now))
    assert.equal(await other.check(answer, now), true)
    assert.equal(await sendWith(answer), 'BOT_VERIFICATION_FAILED')
  })

  it('refuses a challenge that has expired', async () => {
    const answer = await solveChallenge(await getChallenge())
    now += 20 * 60_000
    assert.equal(await sendWith(answer), 'BOT_VERIFICATION_FAILED')
    now -= 60_000
    assert.equal(await sendWith(answer), 'ok')
  })

  it('signs challenges with its own secrets', () => {
    const secrets = { auth: 'ab'.repeat(32) }
    const uses = ['contact challenge', 'contact solution']
    const derived = uses.map((use) => deriveSecret(secrets, use))
    assert.equal(new Set([secrets.auth, ...derived]).size, 3)
    for (const secret of derived) assert.match(secret, /^[0-9a-f]{64}$/)
  })

  it('limits challenges by address', async () => {
    const from = freshClient()
    const statuses = new Set<number>()
    for (let n = 0; n <= 60; n++) {
      statuses.add((await app.send('GET', `${CONTACT}/challenge`, { from })).status)
    }
    assert.deepEqual([...statuses], [200, 429])
  })
})
