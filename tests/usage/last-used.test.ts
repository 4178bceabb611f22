import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { mintKey } from '../../lib/access/api-key.ts'
import type { KeyRecord } from '../../lib/access/key-ring/key-records.ts'
import { loadKeyRecords } from '../../lib/access/key-ring/load-keys.ts'
import { deleteKey, insertKey, type KeyRow, listKeys, newKey } from '../../lib/access/keys.ts'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { USAGE_KEPT_DAYS } from '../../lib/contract/account/usage-details.ts'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import { prepareCounts } from '../../lib/db/ledger/pending-counts.ts'
import { type LocalDb, openDb } from '../../lib/db/open.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { listKeysWithLastUse, listUsedKeys } from '../../lib/usage/last-used.ts'
import { sumPastDays } from '../../lib/usage/past-days.ts'
import { createRequestCounts, type RequestCounts } from '../../lib/usage/request-counts.ts'
import { removeOldUsage } from '../../lib/usage/retention.ts'
import { NOON } from '../support/helpers.ts'

const plans = readPlans(undefined)
let db: LocalDb
let ledger: Ledger
let userId: string
let counts: RequestCounts

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
  counts = createRequestCounts(ledger)
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

/** A request with the key. */
function use({ userId, id }: KeyRecord, now: number): void {
  const counter = counts.findCounter(userId, id)
  counter.use(now)
  counter.count({ operation: 'locateAddress', status: 200, requests: 1, lookUps: 1 }, now)
}

const timesOf = (keys: readonly KeyRow[]) => keys.map((key) => key.lastUsedAt)
const stored = async () => timesOf(await listUsedKeys(db, userId))
const known = async () =>
  timesOf(await listKeysWithLastUse({ db, ledger, requestCounts: counts }, userId))
const summed = async () => timesOf(await listKeys(db, userId))

describe('the last use of a key', () => {
  it('is known at once, and stored by the next flush', async () => {
    const [used] = [await addKey(), await addKey()]
    use(used, NOON + 1_999)
    assert.deepEqual(
      [await known(), await stored()],
      [
        [NOON + 1_999, null],
        [null, null],
      ],
    )
    await ledger.flush()
    await counts.removeWritten()
    assert.deepEqual(
      [await known(), await stored()],
      [
        [NOON + 1_999, null],
        [NOON + 1_999, null],
      ],
    )
  })

  it('is known before the request is counted', async () => {
    const { id } = await addKey()
    const counter = counts.findCounter(userId, id)
    counter.use(NOON)
    assert.deepEqual(await known(), [NOON])
    // A long request may outlive several of these.
    await counts.removeWritten()
    assert.deepEqual(await known(), [NOON])
    counter.count({ operation: 'locateBatch', status: 200, requests: 1, lookUps: 9 }, NOON)
    await ledger.flush()
    await counts.removeWritten()
    assert.deepEqual([counts.lastUseOf(id), await stored()], [0, [NOON]])
  })

  it('never moves back, whatever the clock does', async () => {
    const key = await addKey()
    use(key, NOON + 5_000)
    use(key, NOON)
    assert.deepEqual(await known(), [NOON + 5_000])
    await ledger.flush()
    await counts.removeWritten()
    use(key, NOON + 2_000)
    assert.deepEqual(await known(), [NOON + 5_000])
    await ledger.flush()
    assert.deepEqual(await stored(), [NOON + 5_000])
    use(key, NOON - DAY_MS)
    await ledger.flush()
    await sumPastDays(db, NOON + 2 * DAY_MS)
    assert.deepEqual([await stored(), await summed()], [[NOON + 5_000], [NOON + 5_000]])
  })

  it('stays once the counts of its day are removed', async () => {
    const key = await addKey()
    use(key, NOON)
    await ledger.flush()
    assert.deepEqual(await summed(), [null])
    const later = NOON + 2 * USAGE_KEPT_DAYS * DAY_MS
    await sumPastDays(db, later)
    await removeOldUsage(db, later)
    assert.equal(db.$client.prepare('SELECT count(*) FROM usage_by_operation').pluck().get(), 0)
    assert.deepEqual([await stored(), await summed()], [[NOON], [NOON]])
  })

  it('is stored though its day is added to its month already', async () => {
    const [first, other] = [await addKey(), await addKey()]
    use(first, NOON)
    await ledger.flush()
    await sumPastDays(db, NOON + 3 * DAY_MS)
    use(other, NOON + DAY_MS)
    use(first, NOON + 3 * DAY_MS)
    await ledger.flush()
    await sumPastDays(db, NOON + 5 * DAY_MS)
    use(other, NOON + 2 * DAY_MS)
    await ledger.flush()
    assert.deepEqual(await stored(), [NOON + 3 * DAY_MS, NOON + 2 * DAY_MS])
  })

  it('is not known of others: by users, keys and sessions', async () => {
    const [used] = [await addKey(), await addKey()]
    counts
      .findCounter(userId, null)
      .count({ operation: 'listKeys', status: 200, requests: 1, lookUps: 0 }, NOON)
    use(used, NOON)
    await ledger.flush()
    assert.deepEqual(await stored(), [NOON, null])
  })

  it('is dropped if the key is revoked meanwhile', async () => {
    const [gone, kept] = [await addKey(), await addKey()]
    use(gone, NOON)
    use(kept, NOON)
    const [row] = await listKeys(db, userId)
    assert.ok(row)
    await deleteKey(db, row).run()
    await ledger.flush()
    assert.deepEqual(await stored(), [NOON])
  })

  it('is known while a flush writes it, however late the rows arrive', async () => {
    const key = await addKey()
    use(key, NOON)
    let flushed: Promise<void> | undefined
    const late = withLateRows(db, async () => {
      flushed = ledger.flush()
      await Promise.race([flushed, setTimeout(50)])
      await counts.removeWritten()
    })
    const sources = { db: late, ledger, requestCounts: counts }
    const [row] = await listKeysWithLastUse(sources, userId)
    assert.equal(row?.lastUsedAt, NOON)
    await flushed
    assert.deepEqual(await stored(), [NOON])
  })

  it('does not make any process reload keys', async () => {
    const records = loadKeyRecords(db, plans, assert.ifError)
    const key = await addKey()
    assert.equal(records.update(), true)
    use(key, NOON)
    await ledger.flush()
    assert.equal(records.update(), false)
  })
})
