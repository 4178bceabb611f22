import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PgPool, QUICK_MS } from '../../lib/postgres/connection.ts'
import { openWire, type Wire } from '../cluster/wire.ts'
import {
  openTestPool,
  type PostgresServer,
  startPostgres,
} from '../support/database/postgres-server.ts'

const CONNECTIONS = 4

let server: PostgresServer
let wire: Wire
let pool: PgPool
let closing: AsyncDisposableStack

before(async () => {
  server = await startPostgres()
})
after(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  closing = new AsyncDisposableStack()
  const url = new URL(server.url)
  wire = await openWire(Number(url.port))
  url.port = String(wire.port)
  pool = openTestPool(url.href, CONNECTIONS)
})
afterEach(async () => {
  await closing.disposeAsync()
  // The wire ends first, since the pool would wait for connections that have stalled.
  await wire[Symbol.asyncDispose]()
  await pool[Symbol.asyncDispose]()
})

const ask = (longestMs?: number) =>
  pool.use((connection) => connection.query('SELECT 1'), longestMs)

/** Asks on all connections at once, so that all are open. */
const askOnAll = () =>
  Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      pool.use((connection) => connection.query('SELECT pg_sleep(0.1)')),
    ),
  )

describe('connections that have stalled', () => {
  it('are given up together once one of them does not answer a quick statement', async () => {
    await Promise.all([askOnAll(), ask(QUICK_MS)])
    wire.forget()
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
    closing.use(
      await pool.listen({
        test: () => {
          heard += 1
        },
      }),
    )
    wire.forget()
    const before = heard
    const signal = AbortSignal.timeout(30_000)
    await ask(QUICK_MS).catch(() => {})
    // The first call reports that the new connection listens, the second one is a notice.
    while (heard < before + 2) {
      await pool.use((connection) => connection.query('NOTIFY test'))
      await sleep(100, undefined, { signal })
    }
  })
})
