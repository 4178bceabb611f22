import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { toInquiryMessage } from '../../lib/contact/inquiry-mail.ts'
import { newInquiry } from '../../lib/contact/inquiry-store.ts'
import { messageIdOf } from '../../lib/contact/mail-delivery.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { openMailConnection } from '../../lib/parts/mail.ts'
import { makeApp, NOON, recordingLog } from '../support/helpers.ts'
import { type MailServerOptions, startMailServer } from '../support/mail-server.ts'
import { anyCharacter } from '../support/quick/any-character.ts'
import { accept, deliverDue, INQUIRY, inquiries, outcomes, PRIVATE } from './inquiry.ts'

const SUPPORT = 'support@shop.example'

describe('inquiries by mail', () => {
  const startMailing = async (options: MailServerOptions = {}) => {
    const mail = await startMailServer(options)
    const log = recordingLog()
    const env = {
      MERIDIAN_CONTACT: `mailto:${SUPPORT}`,
      MERIDIAN_SMTP_URL: mail.url,
      MERIDIAN_MAIL_FROM: 'Meridian <geo@shop.example>',
    }
    const app = await makeApp({ env, log })
    const close = async () => {
      await app.close()
      await mail[Symbol.asyncDispose]()
    }
    return { app, mail, log, [Symbol.asyncDispose]: close }
  }

  it('are sent to the configured address, with the sender in Reply-To', async () => {
    await using at = await startMailing()
    const { id } = await accept(at.app)
    const { from, to, headers, text: mail } = await at.mail.next()
    assert.deepEqual([from, to], ['geo@shop.example', [SUPPORT]])
    assert.ok(headers.includes('Subject: =?UTF-8?Q?Inquiry_from_Zo=C3=AB_Quarryman?='))
    assert.ok(headers.includes('Reply-To: =?UTF-8?Q?Zo=C3=AB_Quarryman?= <zoe@quarry.example>'))
    assert.ok(headers.includes(`Message-ID: <${id}@shop.example>`))
    assert.ok(headers.includes('Date: Thu, 15 Jan 2026 12:00:00 +0000'))
    assert.match(mail, /\r\nCompany: Quarry & Sons\r\nInquiry: \S+\r\n\r\nTwo million look-ups/)
    await deliverDue(at.app)
    assert.deepEqual(await outcomes(at.app), [{ state: 'delivered', attempts: 1, lastError: null }])
    assert.equal(at.mail.received(), 1)
  })

  it('are retried after a refusal with growing pauses and the same Message-ID', async () => {
    let refusals = 3
    await using at = await startMailing({ answer: () => (refusals-- > 0 ? 'refuse' : 'take') })
    const { id } = await accept(at.app)
    const pauses: number[] = []
    for (let attempts = 1; attempts <= 3; attempts++) {
      await deliverDue(at.app)
      const [row] = await inquiries(at.app)
      assert.equal(row?.attempts, attempts)
      assert.equal(row.lastError, 'the mail server did not accept the message: EMESSAGE 451')
      pauses.push(row.dueAt - at.app.services.now())
      at.app.setClock(row.dueAt - 1)
      await deliverDue(at.app)
      const early = (await inquiries(at.app))[0]?.attempts
      assert.equal(early, attempts, 'no attempt before the inquiry is due')
      at.app.pass(1)
    }
    for (const [n, pause] of pauses.entries()) {
      assert.ok(pause >= 15_000 * 2 ** n && pause <= 30_000 * 2 ** n, `${n}: ${pause}`)
    }
    await deliverDue(at.app)
    const { headers } = await at.mail.next()
    assert.ok(headers.includes(`Message-ID: <${id}@shop.example>`))
    assert.equal((await outcomes(at.app))[0]?.state, 'delivered')
    const logged = JSON.stringify(at.log.events)
    assert.equal(logged.match(/cannot deliver an inquiry/g)?.length, 3)
    assert.ok(logged.includes(id))
    for (const secret of PRIVATE) assert.ok(!logged.includes(secret), logged)
  })

  it('are given up after five days, which is logged', async () => {
    await using at = await startMailing({ answer: () => 'refuse' })
    await accept(at.app)
    const isWaiting = async () => (await outcomes(at.app))[0]?.state === 'waiting'
    for (let attempts = 0; attempts < 100 && (await isWaiting()); attempts++) {
      await deliverDue(at.app)
      at.app.setClock((await inquiries(at.app))[0]?.dueAt ?? assert.fail('the inquiry is gone'))
    }
    const [row] = await inquiries(at.app)
    assert.equal(row?.state, 'dead')
    const settledAt = row.settledAt ?? 0
    assert.ok(settledAt >= NOON + 5 * DAY_MS && settledAt < NOON + 6 * DAY_MS)
    assert.ok(row.attempts > 20 && row.attempts < 80, `${row.attempts}`)
    assert.match(at.log.events.at(-1)?.message ?? '', /^gave up on an inquiry/)
    at.app.pass(100 * DAY_MS)
    await deliverDue(at.app)
    await using later = await at.app.restart()
    assert.equal((await outcomes(later))[0]?.state, 'dead')
  })

  it('wait while the mail server is down, and are sent by a later run', async () => {
    const smtp = 'smtp://127.0.0.1:1'
    const env = { MERIDIAN_CONTACT: `mailto:${SUPPORT}`, MERIDIAN_SMTP_URL: smtp }
    const app = await makeApp({ env })
    await accept(app)
    await accept(app)
    await deliverDue(app)
    // One attempt shows that the server is down.
    const states = await outcomes(app)
    assert.deepEqual(states[0]?.lastError, 'the mail server did not accept the message: ESOCKET')
    const attempts = states.map((state) => state.attempts)
    assert.deepEqual(attempts, [1, 0])
    app.pass(MINUTE_MS)
    await using mail = await startMailServer()
    await using later = await app.restart({ MERIDIAN_SMTP_URL: mail.url })
    await mail.next()
    await mail.next()
    await deliverDue(later)
    const settled = (await outcomes(later)).map(({ state }) => state)
    assert.deepEqual(settled, ['delivered', 'delivered'])
  })

  it('are released for other servers if the service stops while the mail server is silent', async () => {
    let answer: 'hang' | 'take' = 'hang'
    const asked = Promise.withResolvers<void>()
    await using mail = await startMailServer({
      answer: () => {
        asked.resolve()
        return answer
      },
    })
    const env = { MERIDIAN_CONTACT: `mailto:${SUPPORT}`, MERIDIAN_SMTP_URL: mail.url }
    const app = await makeApp({ env })
    await accept(app)
    await asked.promise
    answer = 'take'
    await using later = await app.restart()
    await mail.next()
    await deliverDue(later)
    assert.deepEqual(await outcomes(later), [{ state: 'delivered', attempts: 1, lastError: null }])
  })

  it('are sent before the service stops if the attempt has begun', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<'take'>()
    await using at = await startMailing({
      answer: () => {
        asked.resolve()
        return answer.promise
      },
    })
    await accept(at.app)
    await accept(at.app)
    await asked.promise
    const stopped = at.app.services.contact.queue?.courier?.stop()
    answer.resolve('take')
    await stopped
    await deliverDue(at.app)
    const states = (await outcomes(at.app)).map(({ state }) => state)
    assert.deepEqual(states, ['delivered', 'waiting'])
  })

  it("have only our headers, whatever the sender's name", async () => {
    await using mail = await startMailServer()
    using connection = openMailConnection({ url: mail.url, from: 'Meridian <geo@shop.example>' })
    const ours = /^(From|To|Subject|Reply-To|Message-ID|Date|MIME-Version|Content-T[-\w]+): /
    const nasty = fc.constantFrom(
      ...['\r\nBcc: all@evil.example', '\n\n', '\r', '"', '<>', ',', ':;', '\\', '(', '=?', '?='],
      ...['\0', '\u2028', '\ud800', '🗺️', 'ü', ' ', '\t', '\u202e', '@', 'all@evil.example'],
    )
    const Part = fc.oneof(nasty, fc.string({ unit: 'grapheme' }), fc.string({ unit: anyCharacter }))
    const Text = fc.array(Part, { size: 'medium' }).map((parts) => parts.join(''))
    const Inquiry = fc.record({
      name: Text,
      company: Text,
      message: fc.oneof(
        Text,
        Text.map((part) => part.repeat(100).slice(0, 5_000)),
      ),
      email: fc.oneof(
        Text,
        Text.map((part) => `${part}@evil.example`),
        fc.emailAddress(),
      ),
    })
    const check = async (given: object) => {
      const asked = { ...INQUIRY, ...given, userId: null, now: NOON, state: 'waiting' } as const
      const inquiry = newInquiry(asked)
      await connection.send(toInquiryMessage(inquiry, { to: SUPPORT, from: 'geo@shop.example' }))
      const { to, headers } = await mail.next()
      assert.deepEqual(to, [SUPPORT])
      const names = headers.map((line) => ours.exec(line)?.[1])
      assert.ok(!names.includes(undefined), JSON.stringify(headers))
      assert.equal(new Set(names).size, names.length)
      for (const line of headers) assert.match(line, /^[\t\x20-\x7e]*$/)
      assert.ok(headers.includes(`To: ${SUPPORT}`))
    }
    await fc.assert(fc.asyncProperty(Inquiry, check), { numRuns: 300 })
  })
})

describe('an address with an international domain', () => {
  it('is written in ASCII in the envelope, since many servers take no other', async () => {
    // RFC 6531, section 3.2: without SMTPUTF8, a client must not send such an address.
    const said: string[] = []
    const server = createServer((socket) => {
      socket.write('220 mail.example\r\n')
      socket.on('data', (bytes) => {
        said.push(String(bytes).trim())
        socket.write(String(bytes).startsWith('DATA') ? '354 go on\r\n' : '250 mail.example\r\n')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // safe: it listens on a port
    const { port } = server.address() as AddressInfo
    const from = 'Büro <geo@bücher.example>'
    const connection = openMailConnection({ url: `smtp://127.0.0.1:${port}`, from })
    await connection.send({ to: 'ada@bücher.example', subject: 'Hello', text: 'Hello' })
    connection[Symbol.dispose]()
    server.close()
    const envelope = said.filter((line) => /^(MAIL|RCPT)/.test(line))
    const [sender, recipient] = ['geo', 'ada'].map((name) => `<${name}@xn--bcher-kva.example>`)
    assert.deepEqual(envelope, [`MAIL FROM:${sender}`, `RCPT TO:${recipient}`])
    assert.equal(messageIdOf('1', from), '<1@xn--bcher-kva.example>')
  })
})
