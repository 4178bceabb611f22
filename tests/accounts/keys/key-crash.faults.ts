import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import * as v from 'valibot'
import { hashKey } from '../../lib/access/api-key.ts'
import { ApiKeyCreated } from '../../lib/contract/account-schemas.ts'
import { eq } from '../../lib/db/drizzle.ts'
import { openDb } from '../../lib/db/open.ts'
import { apiKeys, auditLog } from '../../lib/db/tables.ts'
import { newDataFolder, runScript, startServer } from '../e2e/process.ts'

const ROUNDS = 5
const CLIENTS = 4
const LONGEST_ROUND_MS = 200

const { dataDir, settings: base, remove } = newDataFolder()
after(remove)

const plansFile = join(dataDir, 'plans.json')
const unlimited = { monthlyCap: 1e9, maxKeys: 1e6, maxSites: 1, requestsPerMinute: 1e9 }
writeFileSync(plansFile, JSON.stringify([{ id: 'free', name: 'Free', price: 0, ...unlimited }]))
/** Without the demo key, which each start on another port makes anew. */
const settings = { ...base, MERIDIAN_PLANS: plansFile, MERIDIAN_DEMO: '0' }

/**
 * Creates keys until the server is gone, each with the one before. Adds those that it has answered
 * to `created`.
 */
async function createKeys(url: string, firstKey: string, created: string[]): Promise<void> {
  for (let key = firstKey; ; created.push(key)) {
    const init = { method: 'POST', headers: { 'x-api-key': key }, body: '{"name":"made"}' }
    const answer = await fetch(`${url}/v1/account/me/keys`, init)
    key = v.parse(ApiKeyCreated, await answer.json()).rawKey
  }
}

/** Ids of the keys made over HTTP, and of those that the audit log tells of. */
function stored() {
  const db = openDb(join(dataDir, 'app.db'))
  const keys = db.select().from(apiKeys).where(eq(apiKeys.name, 'made')).all()
  const rows = db.select().from(auditLog).where(eq(auditLog.app, 'api')).all()
  db.$client.close()
  return {
    hashes: new Set(keys.map(({ hash }) => hash)),
    keyIds: keys.map(({ id }) => id).toSorted(),
    auditedIds: rows.map(({ targetId }) => targetId).toSorted(),
  }
}

describe('a server that is killed while it creates keys', () => {
  it('has one audit row for each key, one key for each row, and each that it answered', async () => {
    const { stdout } = await runScript(
      ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first'],
      settings,
    )
    const created: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServer(settings)
      const clients = Array.from({ length: CLIENTS }, () =>
        createKeys(server.url, stdout.trim(), created),
      )
      const ended = Promise.allSettled(clients)
      await wait(Math.random() * LONGEST_ROUND_MS)
      await server.stop('SIGKILL')
      await ended
      const { hashes, keyIds, auditedIds } = stored()
      assert.deepEqual(keyIds, auditedIds)
      for (const text of created) assert.ok(hashes.has(hashKey(text)))
    }
    assert.ok(created.length > 0)

    const server = await startServer(settings)
    const lookUps = created.map(async (text) => {
      const headers = { 'x-api-key': text }
      return (await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })).status
    })
    const statuses = await Promise.allSettled(lookUps)
    await server.stop('SIGTERM')
    for (const status of statuses) assert.deepEqual(status, { status: 'fulfilled', value: 200 })
  })
})
