import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { mintKey } from '../../lib/access/api-key.ts'
import type { KeyRecord } from '../../lib/access/key-ring/key-records.ts'
import { loadKeyRecords } from '../../lib/access/key-ring/load-keys.ts'
import { deleteKey, insertKey, listKeys, newKey } from '../../lib/access/keys.ts'
import { createLastUsed, type LastUsed, listKeysWithLastUse } from '../../lib/access/last-used.ts'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import { prepareCounts } from '../../lib/db/ledger/pending-counts.ts'
import { type LocalDb, openDb } from '../../lib/db/open.ts'
import { NOON } from '../support/helpers.ts'

const plans = readPlans(undefined)
let db: LocalDb
let ledger: Ledger
let userId: string
let lastUsed: LastUsed

beforeEach(async () => {
  db = openDb(':memory:')
  const user = newUser({ email: 'ada@example.com', plan: 'free', now: NOON })
  await insertUser(db, user).run()
  userId = user.id
  const write = prepareCounts(db.$client)
  ledger = new Ledger(
    (counts) => db.engine.whenFree(() => write(counts), 1),
    () => {},
  )
  lastUsed = createLastUsed(ledger)
})

async function addKey(): Promise<KeyRecord> {
  const minted = mintKey('secret')
  const access = { type: 'secret', scopes: null, allowedOrigins: null } as const
  const row = newKey(minted, { userId, name: 'test', ...access, now: NOON, expiresAt: null })
  await insertKey(db, row, 100).run()
  const record = loadKeyRecords(db, plans, assert.ifError).find(minted.hash)
  assert.ok(record)
  return record
}

/** `queries`, whose rows arrive after `between`. */
function withLateRows<Queries extends object>(
  queries: Queries,
  between: () => Promise<void>,
): Queries {
  return new Proxy(queries, {
    get: (target, name) => {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        const result = value.apply(target, given)
        return name === 'all' ? result.then(passOn) : withLateRows(result, between)
      }
    },
  })
  async function passOn(rows: unknown) {
    await between()
    return rows
  }
}

const stored = async () => (await listKeys(db, userId)).map((key) => key.lastUsedAt)

describe('the last use of a key', () => {
  it('is known at once, and stored by the next flush, to the second', async () => {
    const [used] = [await addKey(), await addKey()]
    lastUsed.touch(used, NOON + 1_999)
    assert.equal(lastUsed.unwritten(used.id), NOON + 1_000)
    assert.deepEqual(await stored(), [null, null])
    await ledger.flush()
    assert.deepEqual(await stored(), [NOON + 1_000, null])
    assert.equal(lastUsed.unwritten(used.id), undefined)
  })

  it('is recorded once a minute', async () => {
    const key = await addKey()
    lastUsed.touch(key, NOON)
    await ledger.flush()
    lastUsed.touch(key, NOON + 59_999)
    assert.equal(lastUsed.unwritten(key.id), undefined)
    lastUsed.touch(key, NOON + 60_000)
    assert.equal(lastUsed.unwritten(key.id), NOON + 60_000)
  })

  it('never moves back, whatever the clock does', async () => {
    const key = await addKey()
    lastUsed.touch(key, NOON + 5_000)
    lastUsed.touch(key, NOON)
    // The same key after a reload.
    lastUsed.touch({ ...key, lastUsedAt: 0 }, NOON + 1_000)
    assert.equal(lastUsed.unwritten(key.id), NOON + 5_000)
    await ledger.flush()
    lastUsed.touch({ ...key, lastUsedAt: 0 }, NOON + 2_000)
    await ledger.flush()
    assert.deepEqual(await stored(), [NOON + 5_000])
  })

  it('is dropped if the key is revoked meanwhile', async () => {
    const [gone, kept] = [await addKey(), await addKey()]
    lastUsed.touch(gone, NOON)
    lastUsed.touch(kept, NOON)
    const [row] = await listKeys(db, userId)
    assert.ok(row)
    await deleteKey(db, row).run()
    await ledger.flush()
    assert.deepEqual(await stored(), [NOON])
    assert.equal(lastUsed.unwritten(gone.id), undefined)
  })

  it('is known while a flush writes it, however late the rows arrive', async () => {
    const key = await addKey()
    lastUsed.touch(key, NOON)
    let flushed: Promise<void> | undefined
    const late = withLateRows(db, async () => {
      flushed = ledger.flush()
      await Promise.race([flushed, setTimeout(50)])
    })
    const [row] = await listKeysWithLastUse({ db: late, ledger, lastUsed }, userId)
    assert.equal(row?.lastUsedAt, NOON)
    await flushed
    assert.deepEqual(await stored(), [NOON])
  })

  it('does not make any process reload keys', async () => {
    const records = loadKeyRecords(db, plans, assert.ifError)
    const key = await addKey()
    assert.equal(records.update(), true)
    lastUsed.touch(key, NOON)
    await ledger.flush()
    assert.equal(records.update(), false)
  })
})
