import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { listInquiries } from '../../lib/contact/inquiry-store.ts'
import { createTurnstile } from '../../lib/contact/turnstile.ts'
import { auditLog } from '../../lib/db/tables.ts'
import { write } from '../support/database/sql.ts'
import { makeApp, recordingLog, type TestApp } from '../support/helpers.ts'
import { freshClient } from '../support/scene/send.ts'
import { CONTACT, INQUIRY, inquiries, outcomeOf, PRIVATE } from './inquiry.ts'
import { startTurnstile, TOKENS, type TurnstileServer } from './turnstile-server.ts'

describe('POST /v1/contact, checked by Turnstile', () => {
  let turnstile: TurnstileServer
  let app: TestApp
  const log = recordingLog()
  const secretKey = `secret-${crypto.randomUUID()}`
  const startApp = (env: Record<string, string>) => {
    const checked = { TURNSTILE_SECRET_KEY: secretKey, TURNSTILE_VERIFY_URL: turnstile.url }
    return makeApp({ log, env: { ...checked, TURNSTILE_HOSTNAMES: 'shop.example', ...env } })
  }
  const sendWith = (verification: string, by: TestApp = app) =>
    by.send('POST', CONTACT, { body: { ...INQUIRY, verification } })
  before(async () => {
    turnstile = await startTurnstile()
    app = await startApp({ MERIDIAN_CONTACT: 'store' })
  })
  after(async () => {
    await app.close()
    await turnstile[Symbol.asyncDispose]()
  })

  it('stores the inquiry before it answers', async () => {
    const { status, body } = await sendWith('good')
    assert.deepEqual([status, body], [200, { ok: true }])
    const [row, ...more] = await listInquiries(app.otherDb)
    assert.equal(more.length, 0)
    const { name, email, company, message, state, userId } = row ?? assert.fail('nothing is stored')
    assert.deepEqual({ name, email, company, message }, INQUIRY)
    assert.deepEqual({ state, userId }, { state: 'kept', userId: null })
  })

  it('sends Turnstile the secret and the token, and nothing else', () => {
    assert.deepEqual(turnstile.asked[0], { secret: secretKey, response: 'good' })
  })

  for (const token of Object.keys(TOKENS).filter((name) => !['good', 'slow'].includes(name))) {
    it(`refuses an inquiry if Turnstile answers: ${token}`, async () => {
      const before = (await inquiries(app)).length
      assert.equal(outcomeOf(await sendWith(token)), 'BOT_VERIFICATION_FAILED')
      assert.equal((await inquiries(app)).length, before)
    })
  }

  it('does not wait for Turnstile for ever', async () => {
    const config = app.services.config.turnstile ?? assert.fail('Turnstile is configured')
    const reasons: string[] = []
    const onFailure = (reason: string) => reasons.push(reason)
    const checkBot = createTurnstile({ ...config, onFailure, timeoutMs: 200 })
    assert.equal(await checkBot('slow'), false)
    assert.equal(reasons.length, 1)
  })

  it('logs problems with the secret or Cloudflare, but not invalid tokens', async () => {
    const logOf = async (token: string) => {
      const { length } = log.events
      await sendWith(token)
      return log.events.slice(length).map(({ fields }) => fields)
    }
    assert.deepEqual(await logOf('bad'), [])
    assert.deepEqual(await logOf('spent'), [])
    assert.deepEqual(await logOf('failing'), [{ reason: 'it answered 500' }])
    assert.deepEqual(await logOf('internal'), [{ reason: 'it answered internal-error' }])
    assert.deepEqual(await logOf('rubbish'), [{ reason: 'The body is not JSON' }])
  })

  it('refuses a token of a page on another host', async () => {
    const env = { TURNSTILE_HOSTNAMES: 'other.example', MERIDIAN_CONTACT: 'store' }
    await using elsewhere = await startApp(env)
    assert.equal(outcomeOf(await sendWith('good', elsewhere)), 'BOT_VERIFICATION_FAILED')
  })

  it('refuses inquiries if Turnstile cannot be reached', async () => {
    const gone = await startTurnstile()
    await gone[Symbol.asyncDispose]()
    await using down = await startApp({ TURNSTILE_VERIFY_URL: gone.url, MERIDIAN_CONTACT: 'store' })
    assert.equal(outcomeOf(await sendWith('good', down)), 'BOT_VERIFICATION_FAILED')
  })

  it('answers 404 to a request for a challenge', async () => {
    const { status } = await app.send('GET', `${CONTACT}/challenge`)
    assert.equal(status, 404)
  })

  it('checks the rate limit, the body, the delivery and the bot check, in that order', async () => {
    await using unset = await startApp({})
    const bodies = { bad: '{', botted: { verification: 'bad' }, good: { verification: 'good' } }
    const ask = async (to: TestApp, kind: keyof typeof bodies, from = freshClient()) => {
      const given = bodies[kind]
      const body = typeof given === 'string' ? given : { ...INQUIRY, ...given }
      return outcomeOf(await to.send('POST', CONTACT, { body, from }))
    }
    const { length } = turnstile.asked
    assert.equal(await ask(unset, 'good'), 'SERVICE_UNAVAILABLE')
    assert.equal(await ask(unset, 'botted'), 'SERVICE_UNAVAILABLE')
    assert.equal(await ask(unset, 'bad'), 'BAD_REQUEST')
    const from = freshClient()
    for (let n = 0; n < 5; n++) assert.equal(await ask(unset, 'bad', from), 'BAD_REQUEST')
    const expected = { bad: 'BAD_REQUEST', botted: 'BOT_VERIFICATION_FAILED', good: 'ok' }
    for (const kind of ['bad', 'botted', 'good'] as const) {
      assert.equal(await ask(unset, kind, from), 'RATE_LIMITED')
      assert.equal(await ask(app, kind), expected[kind])
    }
    assert.equal(turnstile.asked.length, length + 2)
  })

  it('does not use up the token if the database cannot be written', async () => {
    const { url: TURNSTILE_VERIFY_URL, asked } = turnstile
    const env = { TURNSTILE_SECRET_KEY: secretKey, TURNSTILE_VERIFY_URL, MERIDIAN_CONTACT: 'store' }
    await using broken = await makeApp({ env })
    const { length } = asked
    broken.setReadOnly(true)
    assert.equal(outcomeOf(await sendWith('good', broken)), 'SERVICE_UNAVAILABLE')
    assert.equal(asked.length, length)
    broken.setReadOnly(false)
    assert.equal(outcomeOf(await sendWith('good', broken)), 'ok')
  })

  it('accepts five in 15 minutes from an address or a /64', async () => {
    await using limited = await makeApp()
    const ask = (from: string) => limited.send('POST', CONTACT, { body: {}, from })
    for (const host of [1, 2, 3, 4, 5]) {
      assert.equal((await ask(`2001:db8:1:2::${host}`)).status, 400)
    }
    const refused = await ask('2001:db8:1:2:ffff::1')
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('ratelimit-policy'), '"inquiries";q=5;w=900')
    assert.equal(refused.headers.get('retry-after'), '180')
    assert.equal((await ask('2001:db8:1:3::1')).status, 400)
    limited.pass(180_000)
    assert.equal((await ask('2001:db8:1:2::6')).status, 400)
    assert.equal((await ask('2001:db8:1:2::7')).status, 429)
  })

  it('refuses an invalid body', async () => {
    const bad = [
      ...['', 'x'.repeat(101), undefined].map((name) => ({ name })),
      ...['zoe', `${'z'.repeat(250)}@quarry.example`].map((email) => ({ email })),
      { email: 'zoe@quarry.example\r\nBcc: all@quarry.example' },
      { company: 'x'.repeat(101) },
      ...['', 'x'.repeat(5_001), ['x']].map((message) => ({ message })),
      ...['', 'x'.repeat(2_049)].map((verification) => ({ verification })),
    ]
    for (const change of bad) {
      const body = { ...INQUIRY, verification: 'good', ...change }
      const answer = await app.send('POST', CONTACT, { body })
      assert.equal(answer.status, 400, JSON.stringify(change).slice(0, 60))
    }
    const large = { ...INQUIRY, verification: 'good', other: 'x'.repeat(16_384) }
    assert.equal((await app.send('POST', CONTACT, { body: large })).status, 413)
  })

  it('answers 500 if the inquiry cannot be stored, and logs no part of it', async () => {
    await using damaged = await startApp({ MERIDIAN_CONTACT: 'store' })
    await write(damaged, 'DROP TABLE inquiries')
    assert.equal(outcomeOf(await sendWith('good', damaged)), 'INTERNAL')
    assert.equal(log.events.at(-1)?.message, 'unexpected error')
  })

  it('logs neither name nor address nor message', () => {
    const lines = [...log.events, ...log.requests].map((line) =>
      JSON.stringify(line, (_, value) =>
        // The path of the code may have any name.
        value instanceof Error ? `${value.stack}`.replaceAll(process.cwd(), '') : value,
      ),
    )
    assert.ok(lines.length > 20)
    for (const line of lines) for (const text of PRIVATE) assert.ok(!line.includes(text), line)
  })
})

describe('POST /v1/billing/contact', () => {
  const body = { name: INQUIRY.name, message: INQUIRY.message }

  it('stores the inquiry with the address of the profile, and writes to the audit log', async () => {
    await using app = await makeApp({ env: { MERIDIAN_CONTACT: 'store' } })
    const key = await app.makeKey({ email: 'zoe@quarry.example' })
    const sent = { key, body: { ...body, company: '' } }
    const answer = await app.send('POST', '/v1/billing/contact', sent)
    assert.equal(outcomeOf(answer), 'ok')
    const [row] = await inquiries(app)
    assert.deepEqual([row?.email, row?.company, row?.state], ['zoe@quarry.example', null, 'kept'])
    const [event] = await app.services.db.select().from(auditLog).all()
    assert.equal(event?.action, 'send_inquiry')
    assert.deepEqual([event?.targetType, event?.targetId], ['inquiry', row?.id])
    assert.equal(event?.actorId, row?.userId)
    assert.equal(event?.detail, null)
  })

  it('accepts five in 15 minutes from a user, whatever keys the user has', async () => {
    await using app = await makeApp({ env: { MERIDIAN_CONTACT: 'store' } })
    const [key, other] = [await app.makeKey(), await app.makeKey()]
    const ask = (by: string) => app.send('POST', '/v1/billing/contact', { key: by, body })
    for (const by of [key, other, key, other, key]) assert.equal(outcomeOf(await ask(by)), 'ok')
    const refused = await ask(other)
    assert.equal(outcomeOf(refused), 'RATE_LIMITED')
    assert.equal(refused.headers.get('ratelimit-policy'), '"inquiries";q=5;w=900')
    assert.equal(refused.headers.get('retry-after'), '180')
    assert.equal((await inquiries(app)).length, 5)
    assert.equal(outcomeOf(await ask(await app.makeKey({ email: 'kim@example.com' }))), 'ok')
    app.pass(180_000)
    assert.equal(outcomeOf(await ask(key)), 'ok')
    assert.equal(outcomeOf(await ask(key)), 'RATE_LIMITED')
  })

  it('accepts five in 15 minutes from an address, whichever users send them', async () => {
    await using app = await makeApp({ env: { MERIDIAN_CONTACT: 'store' } })
    const ask = async (user: number, from: string, sent: object = body) => {
      const key = await app.makeKey({ email: `user${user}@example.com` })
      return outcomeOf(await app.send('POST', '/v1/billing/contact', { key, from, body: sent }))
    }
    for (let user = 0; user < 6; user++) {
      assert.equal(await ask(user, '192.0.2.1', { name: 'Zoë' }), 'BAD_REQUEST')
    }
    for (let user = 0; user < 5; user++) assert.equal(await ask(user, '192.0.2.1'), 'ok')
    for (let n = 0; n < 6; n++) assert.equal(await ask(5, '192.0.2.1'), 'RATE_LIMITED')
    assert.equal(await ask(5, '192.0.2.2'), 'ok')
    assert.equal((await inquiries(app)).length, 6)
  })

  it('needs a key that may write to billing, a body, and a queue, in that order', async () => {
    await using app = await makeApp()
    const poor = await app.makeKey({ scopes: ['billing:read'] })
    const key = await app.makeKey({ scopes: ['billing:write'] })
    const ask = async (sent: object) =>
      outcomeOf(await app.send('POST', '/v1/billing/contact', sent))
    assert.equal(await ask({ body }), 'UNAUTHORIZED')
    assert.equal(await ask({ key: poor, body: {} }), 'INSUFFICIENT_SCOPE')
    assert.equal(await ask({ key, body: { name: 'Zoë' } }), 'BAD_REQUEST')
    assert.equal(await ask({ key, body }), 'SERVICE_UNAVAILABLE')
  })
})
