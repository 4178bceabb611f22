import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Courier } from '../../../lib/contact/courier.ts'
import { inquiryQueue } from '../../../lib/contact/delivery-queue.ts'
import { insertInquiry, newInquiry } from '../../../lib/contact/inquiry-store.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/parts/durations.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { createPgLeases } from '../../../lib/storage/nodes/leases.ts'
import { openPgStorage } from '../../../lib/storage/open-pg-storage.ts'
import type { Storage } from '../../../lib/storage/storage.ts'
import { INQUIRY } from '../../contact/inquiry.ts'
import { openTestPool, startPostgres } from '../../support/database/postgres-server.ts'
import { closedAfterTest, shared } from '../../support/scene/freshly.ts'

const NOW = Date.UTC(2026, 0, 15, 12)

const server = shared(() => startPostgres({ fsync: 'off' }))
const closed = closedAfterTest()
let url: string
let pool: PgPool
let nodes: readonly [Storage, Storage]
beforeEach(async () => {
  url = await server.createDatabase()
  pool = closed(openTestPool(url))
  nodes = [await openNode(), await openNode()]
})

async function openNode(): Promise<Storage> {
  const own = closed(openTestPool(url))
  const options = { pool: own, version: 'test', now: () => NOW, onError: () => {} }
  return closed(await openPgStorage(options))
}

const run = (sql: string) => pool.use((connection) => connection.query(sql))

/** Work that goes on until `end` is called, whatever its signal says. */
function longWork() {
  const begun = Promise.withResolvers<AbortSignal>()
  const end = Promise.withResolvers<void>()
  return {
    begun: begun.promise,
    end: end.resolve,
    work: async (signal: AbortSignal) => {
      begun.resolve(signal)
      await end.promise
    },
  }
}

const nothing = async () => {}

describe('a lease', () => {
  it('lets one node work at a time', async () => {
    const [one, other] = nodes
    const { begun, end, work } = longWork()
    const working = one.leases.runAlone('work', work)
    await begun
    assert.equal(await other.leases.runAlone('work', nothing), false)
    assert.equal(await one.leases.runAlone('work', nothing), false)
    assert.equal(await other.leases.runAlone('other work', nothing), true)
    end()
    assert.equal(await working, true)
    assert.equal(await other.leases.runAlone('work', nothing), true)
    assert.deepEqual((await run('SELECT name FROM leases')).rows, [])
  })

  it('lets nodes wait for each other, so that the work never runs twice at the same time', async () => {
    let atWork = 0
    let done = 0
    const work = async () => {
      atWork += 1
      assert.equal(atWork, 1)
      await run('SELECT 1')
      atWork -= 1
      done += 1
    }
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => nodes[at % 2]?.leases.waitAndRun('work', work)),
    )
    assert.equal(done, 20)
  })

  it('keeps other nodes from the work for some time afterwards, but not the same node', async () => {
    const [one, other] = nodes
    const terms = { restMs: HOUR_MS }
    assert.equal(await one.leases.runAlone('work', nothing, terms), true)
    assert.equal(await other.leases.runAlone('work', nothing, terms), false)
    const { rows } = await run('SELECT until_ms > now_ms() + 3000000 FROM leases')
    assert.deepEqual(rows, [[true]])
    assert.equal(await one.leases.runAlone('work', nothing, terms), true)
  })

  it('passes to another node when the work fails', async () => {
    const [one, other] = nodes
    const fail = async () => {
      throw new Error('not here')
    }
    await assert.rejects(one.leases.runAlone('work', fail, { restMs: HOUR_MS }), /not here/)
    assert.equal(await other.leases.runAlone('work', nothing), true)
  })

  it('passes to another node when its owner stops, and the work is aborted', async () => {
    const [one, other] = nodes
    await one.leases.runAlone('hourly work', nothing, { restMs: HOUR_MS })
    const { begun, end, work } = longWork()
    const working = one.leases.runAlone('work', work)
    const signal = await begun
    await one[Symbol.asyncDispose]()
    assert.equal(signal.aborted, true)
    assert.equal(await other.leases.runAlone('work', nothing), true)
    assert.equal(await other.leases.runAlone('hourly work', nothing), true)
    end()
    await working
  })

  it('passes to another node once its owner is dead', async () => {
    const [one, other] = nodes
    const { begun, end, work } = longWork()
    const working = one.leases.runAlone('work', work)
    await begun
    await run('UPDATE nodes SET died_at = now_ms() WHERE id = (SELECT owner FROM leases)')
    assert.equal(await other.leases.runAlone('work', nothing, { restMs: HOUR_MS }), true)
    end()
    await working
    // The end of the first work left the lease of the new owner alone.
    assert.equal((await run('SELECT owner FROM leases')).rows.length, 1)
  })

  it('passes to another node even after its dead owner was removed', async () => {
    const [one, other] = nodes
    await one.leases.runAlone('hourly work', nothing, { restMs: HOUR_MS })
    await run('DELETE FROM nodes WHERE id = (SELECT owner FROM leases)')
    assert.equal(await other.leases.runAlone('hourly work', nothing), true)
  })

  it('passes to another node some seconds after its owner was killed', async () => {
    const [one] = nodes
    const holder = fileURLToPath(new URL('lease-holder.ts', import.meta.url))
    const child = spawn(process.execPath, [holder, url], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    await Promise.race([once(child.stdout, 'data'), ended])
    assert.equal(await one.leases.runAlone('work', nothing), false)
    child.kill('SIGKILL')
    await ended
    while (!(await one.leases.runAlone('work', nothing))) await run('SELECT pg_sleep(0.1)')
  })

  it('passes to another node after its end, even if its owner is live', async () => {
    const [one, other] = nodes
    const { begun, end, work } = longWork()
    const working = one.leases.runAlone('work', work)
    await begun
    await run('UPDATE leases SET until_ms = now_ms()')
    assert.equal(await other.leases.runAlone('work', nothing), true)
    end()
    await working
  })

  it('ends before others may call its owner dead, however old the last heartbeat was', async () => {
    const [one] = nodes
    await run('UPDATE nodes SET seen_at = now_ms() - 9000')
    const deadAfterMs = 10_000
    const sql = 'SELECT until_ms - seen_at FROM leases JOIN nodes ON nodes.id = owner'
    await one.leases.runAlone('work', async () => {
      const [row] = (await run(sql)).rows
      assert.ok(Number(row?.[0]) < deadAfterMs, `${row?.[0]} ms`)
    })
  })

  it('is not given to a node that the others have marked dead', async () => {
    const [one] = nodes
    await run('UPDATE nodes SET died_at = now_ms()')
    assert.equal(await one.leases.runAlone('work', nothing), false)
  })
})

describe('work under a lease', () => {
  const LEASE_MS = 1_500
  const openLeases = (id: string, own = pool) =>
    createPgLeases({
      pool: own,
      node: () => ({ id }),
      onError: () => {},
      signal: new AbortController().signal,
      leaseMs: LEASE_MS,
    })
  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  beforeEach(async () => {
    await run(`INSERT INTO nodes (id, version, started_at, seen_at)
      VALUES ('one', 'test', 0, now_ms() + 60000), ('other', 'test', 0, now_ms() + 60000)`)
  })

  it('keeps its lease for as long as it runs', async () => {
    const { begun, end, work } = longWork()
    const working = openLeases('one').runAlone('work', work)
    const signal = await begun
    const readEnd = async () => Number((await run('SELECT until_ms FROM leases')).rows[0]?.[0])
    const first = await readEnd()
    while ((await readEnd()) <= first + LEASE_MS) {
      assert.equal(await openLeases('other').runAlone('work', nothing), false)
    }
    assert.equal(signal.aborted, false)
    end()
    assert.equal(await working, true)
  })

  it('keeps its node live while it renews the lease', async () => {
    const { begun, end, work } = longWork()
    const working = openLeases('one').runAlone('work', work)
    await begun
    await run("UPDATE nodes SET seen_at = now_ms() - 9000 WHERE id = 'one'")
    const isLive = "SELECT FROM nodes WHERE id = 'one' AND seen_at > now_ms() - 5000"
    while ((await run(isLive)).rows.length === 0);
    end()
    await working
  })

  it('is aborted once another node has the lease', async () => {
    const work = openLeases('one').runAlone('work', async (signal) => {
      await run(`UPDATE leases SET owner = 'other'`)
      await aborted(signal)
    })
    assert.equal(await work, true)
    assert.deepEqual((await run('SELECT owner FROM leases')).rows, [['other']])
  })

  it('is aborted once its node can no longer reach the database', async () => {
    const lost = openTestPool(url)
    const isDone = openLeases('one', lost).runAlone('work', async (signal) => {
      await Promise.all([aborted(signal), lost[Symbol.asyncDispose]()])
    })
    assert.equal(await isDone, true)
    assert.equal((await run('SELECT owner FROM leases')).rows.length, 1)
  })
})

describe('counts of several nodes', () => {
  it('are all written before a node settles them', async () => {
    const [one, other] = nodes
    const events: string[] = []
    const isKnown = async () =>
      (await run('SELECT FROM nodes WHERE flushed_at IS NULL')).rows.length === 0
    do await Promise.all(nodes.map(({ flushes }) => flushes.run(nothing)))
    while (!(await isKnown()))
    const settled = one.flushes.runOnAll(nothing).then(() => events.push('settled'))
    await other.flushes.run(async () => {
      await run('SELECT pg_sleep(1.5)')
      events.push('written by the other')
    })
    while (!events.includes('settled')) {
      await other.flushes.run(async () => {
        await run('SELECT pg_sleep(0.1)')
      })
    }
    await settled
    assert.deepEqual(events, ['written by the other', 'settled'])
  })
})

describe('the inquiries of several nodes', () => {
  it('are delivered once, although the clock of one is a minute ahead', async () => {
    const [one, other] = nodes
    const inquiry = newInquiry({ ...INQUIRY, userId: null, now: NOW, state: 'waiting' })
    await insertInquiry(one.db, inquiry).run()
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    let delivered = 0
    const deliver = async () => {
      delivered += 1
      begun.resolve()
      await end.promise
    }
    const newCourier = ({ db, leases }: Storage, now: number) =>
      new Courier({
        db,
        queue: inquiryQueue,
        runAlone: (work) => leases.runAlone('inquiries', work),
        deliver,
        now: () => now,
        onFailure: () => {},
        onError: () => {},
      })
    const delivering = newCourier(one, NOW).retry()
    await begun.promise
    await newCourier(other, NOW + MINUTE_MS).retry()
    end.resolve()
    await delivering
    await newCourier(other, NOW + MINUTE_MS).retry()
    assert.equal(delivered, 1)
  })
})
