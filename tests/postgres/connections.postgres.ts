import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { QUICK_MS } from '../../lib/postgres/connection.ts'
import { openWire } from '../cluster/wire.ts'
import { openTestPool, startPostgres } from '../support/database/postgres-server.ts'
import { closedAfterTest, freshly, shared } from '../support/scene/freshly.ts'

const CONNECTIONS = 4

const server = shared(startPostgres)

describe('connections that have stalled', () => {
  const closed = closedAfterTest()
  const at = freshly(async () => {
    const url = new URL(server.url)
    const wire = await openWire(Number(url.port))
    url.port = String(wire.port)
    const pool = openTestPool(url.href, CONNECTIONS)
    const dispose = async () => {
      // The wire ends first, since the pool would wait for connections that have stalled.
      await wire[Symbol.asyncDispose]()
      await pool[Symbol.asyncDispose]()
    }
    return { wire, pool, [Symbol.asyncDispose]: dispose }
  })

  const ask = (longestMs?: number) =>
    at.pool.use((connection) => connection.query('SELECT 1'), longestMs)
  /** Asks on all connections at once, so that all are open. */
  const askOnAll = () => {
    const hold = () => at.pool.use((connection) => connection.query('SELECT pg_sleep(0.1)'))
    return Promise.all(Array.from({ length: CONNECTIONS }, hold))
  }

  it('are given up together once one of them does not answer a quick statement', async () => {
    await Promise.all([askOnAll(), ask(QUICK_MS)])
    at.wire.forget()
    const quick = assert.rejects(ask(QUICK_MS), { code: '08006' })
    // The other connections are used before the quick one is found to have stalled.
    await sleep(1_000)
    const waiting = Array.from({ length: CONNECTIONS - 1 }, () => ask())
    const outcomes = Promise.allSettled(waiting)
    await quick
    for (const { status } of await outcomes) assert.equal(status, 'rejected')
    await Promise.all([askOnAll(), ask(QUICK_MS)])
  })

  it('are replaced if they listen, so that notices arrive again', async () => {
    let heard = 0
    const test = () => {
      heard += 1
    }
    closed(await at.pool.listen({ test }))
    at.wire.forget()
    const before = heard
    const signal = AbortSignal.timeout(30_000)
    await ask(QUICK_MS).catch(() => {})
    // The first call reports that the new connection listens, the second one is a notice.
    while (heard < before + 2) {
      await at.pool.use((connection) => connection.query('NOTIFY test'))
      await sleep(100, undefined, { signal })
    }
  })
})

/** -0 is sent as 0. */
const withoutSign = (value: number) => value + 0
/** What means something in the text of an array, and what PostgreSQL takes for white space. */
const Special = fc.constantFrom(...'"\\{}, \t\v\n\'xé😀', 'NULL')
const Text = fc.oneof(
  fc.string({ unit: Special }),
  // PostgreSQL has no U+0000.
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
)
const Bytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.array(fc.option(value))

describe('an array parameter', () => {
  const pool = shared(async () => openTestPool(await server.createDatabase()))

  /** `type`: of the elements. */
  async function roundTrip(type: string, values: readonly unknown[]): Promise<unknown[]> {
    const sql = `SELECT value FROM unnest($1::${type}[]) WITH ORDINALITY AS row (value, at) ORDER BY at`
    const { rows } = await pool.use((connection) => connection.query(sql, [values]))
    return rows.map(([value]) => value)
  }
  const keeps = <Value>(type: string, values: fc.Arbitrary<Value[]>) =>
    fc.assert(
      fc.asyncProperty(values, async (all) => {
        assert.deepEqual(await roundTrip(type, all), all)
      }),
    )

  it('keeps texts', () => keeps('text', nullable(Text)))

  it('keeps whole numbers', () => keeps('bigint', nullable(fc.maxSafeInteger())))

  it('keeps fractions, infinity and NaN', () =>
    keeps('float8', nullable(fc.double().map(withoutSign))))

  it('keeps booleans', () => keeps('boolean', nullable(fc.boolean())))

  it('keeps bytes', () => keeps('bytea', nullable(Bytes)))

  it('is refused if it has other values, or bytes among others', async () => {
    await assert.rejects(roundTrip('text', [new Date()]), TypeError)
    await assert.rejects(roundTrip('bytea', [Buffer.of(1), 'text']), TypeError)
    await assert.rejects(roundTrip('text', ['text', Buffer.of(1)]), TypeError)
  })
})
