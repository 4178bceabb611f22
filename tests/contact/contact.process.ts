import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { insertInquiry, listInquiries, newInquiry } from '../../lib/contact/inquiry-store.ts'
import { openDb } from '../../lib/db/open.ts'
import { type MailAnswer, startMailServer } from '../support/mail-server.ts'
import { addKey, newDataFolder, runScript, startServer } from '../support/process.ts'
import { INQUIRY, PRIVATE } from './inquiry.ts'

const { dataDir, settings, remove } = newDataFolder()
const db = openDb(join(dataDir, 'app.db'))
after(() => {
  db.$client.close()
  remove()
})

let key: string
before(async () => {
  key = await addKey(settings, INQUIRY.email, '--scopes', 'all')
})

async function send(url: string): Promise<void> {
  const body = JSON.stringify({ name: INQUIRY.name, message: INQUIRY.message })
  const init = { method: 'POST', body, headers: { 'x-api-key': key } }
  const answer = await fetch(`${url}/v1/billing/contact`, init)
  assert.deepEqual([answer.status, await answer.text()], [200, '{"ok":true}'])
}

const mailing = ({ url }: { readonly url: string }) => ({
  ...settings,
  MERIDIAN_CONTACT: 'mailto:support@shop.example',
  MERIDIAN_SMTP_URL: url,
})

describe('inquiries', () => {
  it('are delivered by the next run if the process is killed before the mail server answers', async () => {
    let answer: MailAnswer = 'hang'
    const asked = Promise.withResolvers<void>()
    await using mail = await startMailServer({
      answer: () => {
        asked.resolve()
        return answer
      },
    })
    const killed = await startServer(mailing(mail))
    await send(killed.url)
    await asked.promise
    await killed.stop('SIGKILL')
    answer = 'take'
    // Ends the lease at once instead of waiting.
    db.$client.exec('UPDATE inquiries SET due_at = 0')
    const next = await startServer(mailing(mail))
    await mail.next()
    const { code, stdout } = await next.stop('SIGTERM')
    assert.equal(code, 0)
    assert.equal(mail.received(), 1)
    const [row] = await listInquiries(db)
    assert.deepEqual([row?.state, row?.attempts], ['delivered', 2])
    for (const text of PRIVATE) assert.ok(!`${killed.output()}${stdout}`.includes(text), stdout)
    db.$client.exec('DELETE FROM inquiries')
  })

  it('are released for other servers by a server that cannot listen', async () => {
    const inquiry = { ...INQUIRY, userId: null, now: Date.now(), state: 'waiting' } as const
    await insertInquiry(db, newInquiry(inquiry)).run()
    await using mail = await startMailServer({ answer: () => 'hang' })
    const { port } = new URL(mail.url)
    const { code, stderr } = await runScript(['server.ts'], { ...mailing(mail), PORT: port })
    assert.equal(code, 1)
    assert.match(stderr, /EADDRINUSE/)
    const [row, ...more] = await listInquiries(db)
    assert.deepEqual([row?.state, row?.attempts, more], ['waiting', 0, []])
    db.$client.exec('DELETE FROM inquiries')
  })
})

describe('npm run contact', () => {
  const contact = (...options: string[]) => runScript(['scripts/contact.ts', ...options], settings)
  const ids = async () => (await listInquiries(db)).map(({ id }) => id)

  before(async () => {
    const server = await startServer({ ...settings, MERIDIAN_CONTACT: 'store' })
    for (let n = 0; n < 3; n++) await send(server.url)
    await server.stop('SIGTERM')
    const nasty = { message: 'One\r\nTwo\u001b[2J\u202e', lastError: 'the webhook answered 500' }
    db.$client
      .prepare("UPDATE inquiries SET state = 'dead', message = ?, last_error = ? WHERE id <> ?")
      .run(nasty.message, nasty.lastError, (await ids())[0])
  })

  it('lists all inquiries', async () => {
    const { code, stdout, stderr } = await contact()
    assert.deepEqual([code, stderr], [0, ''])
    const [title = '', first = '', second = '', ...more] = stdout.trimEnd().split('\n')
    assert.match(title, /^Id +State +Received +Attempts +Due or settled +Name +Last error$/)
    const kept = new RegExp(`^${(await ids())[0]}  kept +20\\S+Z +0  20\\S+Z +Zoë Quarryman$`)
    assert.match(first, kept)
    assert.match(second, /dead .*Zoë Quarryman {2}the webhook answered 500$/)
    assert.equal(more.length, 1)
    const listed = JSON.parse((await contact('--json')).stdout)
    const listedIds = listed.map(({ id }: { readonly id: string }) => id)
    assert.deepEqual(listedIds, await ids())
    const shown = await contact('--show', listed[1].id, '--json')
    assert.deepEqual(JSON.parse(shown.stdout), listed[1])
    assert.partialDeepStrictEqual(listed[1], {
      ...{ state: 'dead', email: INQUIRY.email, message: 'One\r\nTwo\u001b[2J\u202e' },
      ...{ lastError: 'the webhook answered 500' },
    })
  })

  it('shows one inquiry without control characters', async () => {
    const { code, stdout } = await contact('--show', ((await ids())[1] ?? '').slice(0, 18))
    assert.equal(code, 0)
    assert.ok(stdout.includes('State     dead: the webhook answered 500\n'))
    assert.ok(stdout.includes(`E-mail    ${INQUIRY.email}\n`))
    assert.ok(stdout.endsWith('\n\nOne\nTwo\ufffd[2J\ufffd\n'), stdout)
  })

  it('removes one inquiry', async () => {
    const [, , last = ''] = await ids()
    const { code, stderr } = await contact('--remove', last)
    assert.deepEqual([code, stderr], [0, `Removed ${last}\n`])
    assert.equal((await ids()).length, 2)
  })

  it('queues one inquiry, or all that were given up, for a running server', async () => {
    await using mail = await startMailServer()
    const server = await startServer(mailing(mail))
    const [kept = ''] = await ids()
    assert.match((await contact('--retry-dead')).stderr, /^Queued 1;/)
    assert.match((await contact('--retry', kept)).stderr, new RegExp(`^Queued ${kept};`))
    await mail.next()
    await mail.next()
    await server.stop('SIGTERM')
    assert.equal((await listInquiries(db, 'delivered')).length, 2)
    assert.match((await contact('--retry-dead')).stderr, /^Queued 0;/)
  })

  it('refuses unknown commands and ids', async () => {
    const bad = [
      [['--show', 'x'], /^There is no inquiry x\n$/],
      [['--show', ''], /^--show is missing/],
      [['--show', 'x', '--retry', 'x'], /cannot be used together/],
      [['--list'], /^Unknown option/],
      [['--json', '--retry', 'x'], /cannot be used together/],
    ] as const
    for (const [options, message] of bad) {
      const { code, stdout, stderr } = await contact(...options)
      assert.deepEqual([code, stdout], [stderr.includes('\n\nUsage: ') ? 2 : 1, ''])
      assert.match(stderr, message)
    }
  })
})
