import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { ask, openServerShop, type Sent, SUBSCRIPTION, until } from '../../billing/server-shop.ts'
import { addKey, newDataFolder, startServer } from '../../support/process.ts'

// run: only on Node.js

const EMAIL = 'ada@example.com'
const DELETE: Sent = { method: 'POST', path: '/v1/account/me/delete', body: { email: EMAIL } }

/** More than smaller transactions write. */
const SPILLED_BYTES = 1_000_000

describe('kill -9 while an account is deleted', () => {
  it('between Stripe and our own write leaves an account that can be deleted again', async () => {
    await using shop = await openServerShop({ starter: 1, pro: 2 })
    const key = await shop.addUser(EMAIL)
    const server = await shop.start()
    await ask(server, key, { method: 'POST', path: SUBSCRIPTION, body: { planId: 'pro' } })
    const { sessions, subscriptions } = shop.double.world.state.tables
    const [page] = [...sessions.values()]
    shop.double.payCheckout(page?.id ?? '', { card: 'pm_card_visa' })
    shop.double.failCalls({ kind: 'late', delayMs: 60_000, method: 'DELETE' })
    const outcome = ask(server, key, DELETE).then(
      ...['answered', 'cut off'].map((text) => () => text),
    )
    await until(() => [...subscriptions.values()].every(({ status }) => status === 'canceled'))
    await server.stop('SIGKILL')
    assert.equal(await outcome, 'cut off')
    shop.double.clearFaults()
    const again = await shop.start()
    assert.equal((await ask(again, key, { method: 'GET', path: '/v1/account/me' })).status, 200)
    assert.equal((await ask(again, key, DELETE)).status, 200)
    assert.equal((await ask(again, key, { method: 'GET', path: '/v1/account/me' })).status, 401)
  })

  it('in the middle of the write leaves all of it, or nothing', async () => {
    const { dataDir, settings, remove } = newDataFolder()
    try {
      const key = await addKey(settings, EMAIL, '--scopes', 'all')
      const file = join(dataDir, 'app.db')
      const { all } = fill(file)
      const server = await startServer(settings)
      const walBytes = () => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
      const before = walBytes()
      let isAnswered = false
      const outcome = ask(server, key, DELETE)
        .catch(() => null)
        .finally(() => {
          isAnswered = true
        })
      // SQLite moves pages of a large transaction into this file before it commits.
      await until(() => isAnswered || walBytes() > before + SPILLED_BYTES)
      await server.stop('SIGKILL')
      await outcome
      assert.ok([0, all].includes(countRows(file)), `${countRows(file)} of ${all} rows`)
    } finally {
      remove()
    }
  })
})

/** Gives the user a site with much telemetry. */
function fill(file: string) {
  const db = new Sqlite(file)
  db.exec(`
    INSERT INTO sites (id, user_id, name, created_at) SELECT 'site', id, 'https://ada.example', 1 FROM users;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO rum_sketches (site_id, hour, country, device, samples, sketches)
      SELECT 'site', 500000 + i / 60, i % 60, '', 1, zeroblob(500) FROM n;`)
  db.close()
  return { all: countRows(file) }
}

function countRows(file: string): number {
  const db = new Sqlite(file, { readonly: true })
  const counts = [
    'SELECT count(*) FROM rum_sketches',
    'SELECT count(*) FROM sites',
    `SELECT count(*) FROM users WHERE email = '${EMAIL}'`,
  ].map((sql) => Number(db.prepare(sql).pluck().get()))
  const rows = counts.reduce((sum, count) => sum + count, 0)
  db.close()
  return rows
}
