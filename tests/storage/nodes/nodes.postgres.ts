import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { mintKey } from '../../../lib/access/api-key.ts'
import type { KeyRing } from '../../../lib/access/key-ring/key-ring.ts'
import {
  deleteKey,
  insertKey,
  insertReplacement,
  type KeyRow,
  listKeys,
  newKey,
  retireKey,
} from '../../../lib/access/keys.ts'
import { insertUser, newUser, updatePlan } from '../../../lib/accounts/users.ts'
import { readPlans } from '../../../lib/config/plans.ts'
import type { PendingCounts } from '../../../lib/db/ledger/pending-counts.ts'
import { retry } from '../../../lib/parts/repeat.ts'
import { openPgStorage } from '../../../lib/storage/open-pg-storage.ts'
import type { Storage } from '../../../lib/storage/storage.ts'
import { pendingCounts, UNPAID } from '../../support/database/pending-counts.ts'
import { openTestPool, startPostgres } from '../../support/database/postgres-server.ts'
import { closedAfterTest, shared } from '../../support/scene/freshly.ts'

const NODES = 3
const NEVER = new AbortController().signal
const NOW = Date.UTC(2026, 0, 15, 12)
const plans = readPlans(undefined)

const server = shared(startPostgres)
const closed = closedAfterTest()
let nodes: { readonly storage: Storage; readonly keys: KeyRing }[]
beforeEach(async () => {
  const url = await server.createDatabase()
  nodes = await Promise.all(Array.from({ length: NODES }, () => openNode(url)))
})

async function openNode(url: string) {
  const pool = closed(openTestPool(url))
  const options = { pool, version: 'test', now: () => NOW, onError: () => {} }
  const storage = closed(await openPgStorage(options))
  return { storage, keys: await storage.openKeys(plans, () => {}) }
}

function nodeAt(index: number) {
  return nodes[index % NODES] ?? assert.fail()
}

async function addUser(email: string): Promise<string> {
  const user = newUser({ email, plan: plans.free.id, now: NOW })
  await insertUser(nodeAt(0).storage.db, user).run()
  return user.id
}

function makeKey(userId: string): { readonly row: KeyRow; readonly text: string } {
  const minted = mintKey('secret')
  const unlimited = { scopes: null, allowedOrigins: null, expiresAt: null }
  const row = newKey(minted, { userId, name: 'test', type: 'secret', now: NOW, ...unlimited })
  return { row, text: minted.text }
}

const addKey = ({ storage, keys }: (typeof nodes)[number], row: KeyRow, max = 1_000) =>
  keys.change([insertKey(storage.db, row, max)])

describe('several nodes on one PostgreSQL', () => {
  it('migrate an empty database once, although they start at the same time', async () => {
    const sql = 'SELECT count(*) FROM schema_version'
    const { rows } = await nodeAt(0).storage.db.execute({ sql, params: [] })
    assert.deepEqual(rows, [[1]])
  })

  it('never exceed the limit of keys together', async () => {
    const userId = await addUser('ada@example.com')
    const added = await Promise.all(
      Array.from({ length: 50 }, (_, at) => addKey(nodeAt(at), makeKey(userId).row, 10)),
    )
    assert.equal(added.filter((isAdded) => isAdded).length, 10)
    assert.equal((await listKeys(nodeAt(1).storage.db, userId)).length, 10)
  })

  it('accept a key everywhere once its creation has been answered, and nowhere after its deletion', async () => {
    const userId = await addUser('ada@example.com')
    for (let at = 0; at < 20; at++) {
      const { row, text } = makeKey(userId)
      const maker = nodeAt(at)
      assert.equal(await addKey(maker, row), true)
      for (const { keys } of nodes) assert.equal(keys.find(text, NOW)?.id, row.id)
      const remover = nodeAt(at + 1)
      assert.equal(await remover.keys.change([deleteKey(remover.storage.db, row)]), true)
      for (const { keys } of nodes) assert.equal(keys.find(text, NOW), null)
    }
  })

  it('accept a rotated key and its replacement everywhere once the rotation has been answered', async () => {
    const userId = await addUser('ada@example.com')
    for (let at = 0; at < NODES; at++) {
      const { keys, storage } = nodeAt(at)
      const [from, to] = [makeKey(userId), makeKey(userId)]
      await addKey(nodeAt(at + 1), from.row)
      const retired = { endsAt: NOW + 1000, replacedBy: to.row.id }
      const retire = retireKey(storage.db, from.row, retired)
      assert.equal(await keys.change([retire, insertReplacement(storage.db, to.row)]), true)
      for (const node of nodes) {
        assert.ok(node.keys.find(to.text, NOW))
        assert.ok(node.keys.find(from.text, NOW + 999))
        assert.equal(node.keys.find(from.text, NOW + 1000), null)
      }
    }
  })

  it('lose no change of keys, however many happen at once', async () => {
    const users = await Promise.all(
      Array.from({ length: 30 }, (_, at) => addUser(`user-${at}@example.com`)),
    )
    const made = users.flatMap((userId) => [makeKey(userId), makeKey(userId), makeKey(userId)])
    const added = await Promise.all(made.map(({ row }, at) => addKey(nodeAt(at), row)))
    assert.ok(added.every((isAdded) => isAdded))
    for (const { keys } of nodes) {
      const lost = made.filter(({ row, text }) => keys.find(text, NOW)?.id !== row.id)
      assert.deepEqual(lost, [])
    }
  })

  it('follow a change of plan', async () => {
    const userId = await addUser('ada@example.com')
    const { row, text } = makeKey(userId)
    await addKey(nodeAt(0), row)
    await nodeAt(1).keys.change([updatePlan(nodeAt(1).storage.db, userId, 'pro')])
    assert.equal(nodeAt(2).keys.find(text, NOW)?.plan.id, 'pro')
  })

  it('learn of each change of sites before it is answered', async () => {
    const userId = await addUser('ada@example.com')
    const heard = nodes.map(() => 0)
    for (const [at, { keys }] of nodes.entries()) {
      keys.onChange(() => {
        heard[at] = (heard[at] ?? 0) + 1
      })
    }
    const { storage, keys } = nodeAt(0)
    for (const sql of [
      `INSERT INTO sites (id, user_id, name, host, created_at, is_first)
       VALUES ('site', '${userId}', 'https://one.example', 'one.example', 1, 1)`,
      "UPDATE sites SET proven_at = 2, checked_at = 2 WHERE id = 'site'",
      "DELETE FROM sites WHERE id = 'site'",
    ]) {
      const before = [...heard]
      await keys.changeBy(() => storage.db.execute({ sql, params: [] }))
      for (const [at, count] of heard.entries()) assert.ok(count > (before[at] ?? 0), sql)
    }
  })

  it('find the keys of the others again after PostgreSQL has crashed', async () => {
    const userId = await addUser('ada@example.com')
    const { row, text } = makeKey(userId)
    await addKey(nodeAt(0), row)
    await server.crash()
    for (const { keys } of nodes) assert.equal(keys.find(text, NOW)?.id, row.id)
    const late = AbortSignal.timeout(20_000)
    // Broken connections fail before new ones are opened.
    await retry(() => nodeAt(1).keys.change([deleteKey(nodeAt(1).storage.db, row)]), late)
    await retry(async () => {
      for (const { keys } of nodes) assert.equal(keys.find(text, NOW), null)
    }, late)
  })

  it('join again with the keys they know, so that changes of keys wait for them at once', async () => {
    const { db } = nodeAt(0).storage
    const read = async (sql: string) => (await db.execute({ sql, params: [] })).rows
    await read('UPDATE nodes SET died_at = now_ms()')
    const LIVE = 'SELECT revision >= 0 FROM nodes WHERE died_at IS NULL'
    let live: unknown[][] = []
    while (live.length < NODES) {
      live = await read(LIVE)
      assert.ok(live.every(([knowsKeys]) => knowsKeys === true))
    }
  })

  it('count the requests of a user together', async () => {
    const userId = await addUser('ada@example.com')
    await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        nodeAt(at).storage.writeCounts(countsOf(userId, at), NEVER),
      ),
    )
    const { totals } = await nodeAt(0).storage.writeCounts(countsOf(userId, 0), NEVER)
    assert.deepEqual(totals, [{ userId, periodStart: 0, requests: 61, overage: 0 }])
  })
})

/** One request of the user, in several tables. */
function countsOf(userId: string, at: number): PendingCounts {
  const bucket = { spent: 1, at: NOW + at }
  const requests = 1
  return pendingCounts({
    users: [{ userId, periodStart: 0, requests, ...UNPAID, ...bucket, notices: [] }],
    operations: [
      {
        userId,
        keyId: '',
        day: 1,
        operation: 'locate',
        status: 200,
        requests,
        lookUps: requests,
        usedAt: NOW,
      },
    ],
  })
}
