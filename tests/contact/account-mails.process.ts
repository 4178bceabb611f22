import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { type MailAnswer, startMailServer } from '../support/mail-server.ts'
import { newDataFolder, type Running, startServer } from '../support/process.ts'

// run: only on Node.js

const { settings: folder, remove } = newDataFolder()
after(remove)

async function signUp({ url }: Running, email: string): Promise<void> {
  const body = JSON.stringify({ email, password: `correct ${crypto.randomUUID()}`, name: 'Ada' })
  const headers = { 'content-type': 'application/json' }
  const { status } = await fetch(`${url}/api/auth/sign-up/email`, { method: 'POST', headers, body })
  assert.equal(status, 200)
}

describe('a mail to a user, after kill -9', () => {
  it('is sent by the next process, whether the mail server refused it or was about to take it', async () => {
    for (const answer of ['refuse', 'hang'] as const) {
      const asked = Promise.withResolvers<void>()
      const server = { answer: answer as MailAnswer }
      await using mail = await startMailServer({
        answer: () => {
          asked.resolve()
          return server.answer
        },
      })
      const settings = { ...folder, MERIDIAN_SMTP_URL: mail.url }
      const killed = await startServer(settings)
      const email = `${answer}@example.com`
      await signUp(killed, email)
      await asked.promise
      await killed.stop('SIGKILL')
      server.answer = 'take'
      const next = await startServer(settings)
      // The pause after a refusal, or the lease of the killed process, is half a minute.
      const received = await Promise.race([mail.next(), sleep(90_000, null)])
      assert.deepEqual(received?.to, [email])
      assert.match(received?.text ?? '', /\/app\/sign-in\?verify=/)
      await next.stop('SIGTERM')
    }
  })
})

describe('a mail to a user, while the server stops', () => {
  it('is sent once if the mail server is about to take it', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<MailAnswer>()
    await using mail = await startMailServer({
      answer: () => {
        asked.resolve()
        return answer.promise
      },
    })
    const settings = { ...folder, MERIDIAN_SMTP_URL: mail.url }
    const stopped = await startServer(settings)
    await signUp(stopped, 'stopped@example.com')
    await asked.promise
    const isStopped = stopped.stop('SIGTERM')
    const answers = () => fetch(`${stopped.url}/v1`).then(({ ok }) => ok)
    while (await answers().catch(() => false));
    answer.resolve('take')
    await isStopped
    assert.equal(mail.received(), 1)
    const db = new Sqlite(join(folder.MERIDIAN_DATA_DIR, 'app.db'), { readonly: true })
    assert.deepEqual(db.prepare('SELECT kind FROM account_mails').all(), [])
    db.close()
  })
})
