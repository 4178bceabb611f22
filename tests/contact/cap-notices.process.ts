import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { type MailAnswer, startMailServer } from '../support/mail-server.ts'
import { plansFile } from '../support/plans-file.ts'
import { addKey, newDataFolder, type Running, startServer } from '../support/process.ts'

// run: only on Node.js

/*
 * The process is killed with kill -9 while it counts the requests of users who reach their cap, and
 * mails them. In the end the log has each limit of each user once. The highest was
 * mailed, and none twice; a lower one only if it was reached in an earlier flush.
 */

const ROUNDS = 3
/** The cap of the plan `tiny`. */
const CAP = 10
const REACHED = "SELECT count(*) FROM cap_notices WHERE threshold = 'reach_cap'"

const { dataDir, settings: folder, remove } = newDataFolder()
after(remove)

function query(sql: string): unknown {
  const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
  try {
    return db.prepare(sql).pluck().get()
  } finally {
    db.close()
  }
}

/** Sends requests up to the cap. Returns whether the next is reduced. */
async function ask({ url }: Running, key: string): Promise<boolean> {
  let text = ''
  for (let n = 0; n <= CAP; n++) {
    const answer = await fetch(`${url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': key } })
    text = await answer.text()
  }
  return text.includes('"degraded":true')
}

/** Enough for the lease of a mail whose delivery was killed. */
async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 90_000; !holds(); await sleep(20)) {
    assert.ok(performance.now() < end, 'the condition did not become true in time')
  }
}

describe('kill -9 while users reach their cap', () => {
  it('neither loses nor repeats a notice', async () => {
    const answers = { delayMs: 500 }
    await using mail = await startMailServer({
      answer: async (): Promise<MailAnswer> => {
        await sleep(answers.delayMs)
        return 'take'
      },
    })
    const settings = { ...folder, MERIDIAN_PLANS: plansFile(), MERIDIAN_SMTP_URL: mail.url }
    for (let round = 0; round < ROUNDS; round++) {
      const key = await addKey(settings, `user${round}@example.com`, '--plan', 'tiny')
      const killed = await startServer(settings)
      assert.equal(await ask(killed, key), true)
      await sleep(Math.random() * 3_000)
      await killed.stop('SIGKILL')
      answers.delayMs = 0
      const next = await startServer(settings)
      assert.equal(await ask(next, key), true)
      const waiting = "SELECT count(*) FROM cap_notices WHERE state <> 'delivered'"
      await until(() => query(REACHED) === round + 1 && query(waiting) === 0)
      await next.stop('SIGTERM')
      answers.delayMs = 500
    }
    const notices = query('SELECT count(*) FROM cap_notices')
    assert.equal(query('SELECT count(DISTINCT user_id || threshold) FROM cap_notices'), notices)
    assert.equal(query("SELECT count(*) FROM audit_log WHERE action LIKE '%_cap'"), 2 * ROUNDS)
    const mails = await Promise.all(Array.from({ length: mail.received() }, () => mail.next()))
    const ids = mails.map(({ headers }) => headers.find((line) => line.startsWith('Message-ID')))
    assert.equal(new Set(ids).size, notices)
  })
})
