import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { hashKey } from '../../../lib/access/api-key.ts'
import { ApiKeyCreated } from '../../../lib/contract/account/account-schemas.ts'
import { eq } from '../../../lib/db/drizzle.ts'
import { openDb } from '../../../lib/db/open.ts'
import { apiKeys, auditLog } from '../../../lib/db/tables.ts'
import { widePlansFile } from '../../support/plans-file.ts'
import { newDataFolder, startServer } from '../../support/process.ts'
import { addUsers } from '../many-users.ts'

// run: only on Node.js

const ROUNDS = 5
/** Each its own user, who may create only a few keys. */
const CLIENTS = 8
const LONGEST_ROUND_MS = 200
const WAIT_MS = 30_000

const { dataDir, settings: base, remove } = newDataFolder()
after(remove)

const plansFile = widePlansFile()
/** No demo key: each start on another port would replace it. */
const settings = { ...base, MERIDIAN_PLANS: plansFile, MERIDIAN_DEMO: '0' }

/** Creates keys, each with the previous one, until the server is gone. Adds them to `created`. */
async function createKeys(url: string, firstKey: string, created: string[]): Promise<void> {
  for (let key = firstKey; ; created.push(key)) {
    const init = { method: 'POST', headers: { 'x-api-key': key }, body: '{"name":"made"}' }
    const answer = await fetch(`${url}/v1/account/me/keys`, init)
    key = v.parse(ApiKeyCreated, await answer.json()).rawKey
  }
}

/** Waits until a key is added: on a busy machine the first answer takes longer than a round. */
async function waitForAnother(created: readonly string[]): Promise<void> {
  const earlier = created.length
  const deadline = performance.now() + WAIT_MS
  while (created.length === earlier && performance.now() < deadline) await sleep(10)
}

/** Ids of the keys created over HTTP, and of the keys in the audit log. */
async function stored() {
  const db = openDb(join(dataDir, 'app.db'))
  const keys = await db.select().from(apiKeys).where(eq(apiKeys.name, 'made')).all()
  const rows = await db.select().from(auditLog).where(eq(auditLog.app, 'api')).all()
  db.$client.close()
  return {
    hashes: new Set(keys.map(({ hash }) => hash)),
    keyIds: keys.map(({ id }) => id).toSorted(),
    auditedIds: rows.map(({ targetId }) => targetId).toSorted(),
  }
}

describe('a server that is killed while it creates keys', () => {
  it('keeps every key that it has returned, and one audit row for each key', async () => {
    const users = await addUsers(join(dataDir, 'app.db'), plansFile, CLIENTS)
    const created: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServer(settings)
      const clients = users.map((key) => createKeys(server.url, key, created))
      const ended = Promise.allSettled(clients)
      await waitForAnother(created)
      await sleep(Math.random() * LONGEST_ROUND_MS)
      await server.stop('SIGKILL')
      await ended
      const { hashes, keyIds, auditedIds } = await stored()
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
