import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { rowsOf } from '../../lib/db/ledger/columns.ts'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import type { PendingCounts, WriteCounts, Written } from '../../lib/db/ledger/pending-counts.ts'
import { type LedgerTable, Line, tablePageOf } from '../../lib/db/ledger/table.ts'

/** Counts on a disk that can fail and that writes in its own time. */
class Disk {
  readonly totals = new Map<string, number>()
  readonly chunks: number[] = []
  /** The places of the written counts, in the order of writing. */
  readonly places: number[] = []
  /** Rejects writes while this is true. */
  isFull = false
  /** Rejects writes of this count. */
  broken: string | undefined
  /** Writes wait for it. */
  free: Promise<void> = nextTurn()

  readonly write = async ({ buckets }: PendingCounts): Promise<Written> => {
    await this.free
    if (this.isFull) throw new Error('full')
    if (buckets.id.some((id) => id === this.broken)) throw new Error('broken')
    this.chunks.push(buckets.id.length)
    for (const { id, spent } of rowsOf(buckets)) {
      this.totals.set(id, (this.totals.get(id) ?? 0) + spent)
      this.places.push(tablePageOf(id))
    }
    return { notices: [] }
  }

  get total(): number {
    return [...this.totals.values()].reduce((sum, n) => sum + n, 0)
  }
}

/** Counts events, as meters do. */
class Counter extends Line {
  readonly id: string
  readonly #table: LedgerTable<Counter>

  constructor(id: string, table: LedgerTable<Counter>) {
    super(id)
    this.id = id
    this.#table = table
  }

  count(): void {
    this.#table.add(this, 0, 1)
  }
}

/** Writes counts as if buckets had spent them. */
function openTable(ledger: Ledger): LedgerTable<Counter> {
  return ledger.open({
    sums: 1,
    toPending: (rows) => ({
      buckets: { id: rows.lines.map(({ id }) => id), spent: rows.sum(0), at: rows.sum(0) },
    }),
  })
}

function open(counters: number) {
  const disk = new Disk()
  const ledger = new Ledger(disk.write, () => {})
  const table = openTable(ledger)
  const items = Array.from({ length: counters }, (_, id) => new Counter(`${id}`, table))
  const countAll = () => {
    for (const item of items) item.count()
  }
  return { disk, ledger, items, countAll }
}

describe('the ledger', () => {
  it('writes each count once, in chunks', async () => {
    const { disk, ledger, countAll } = open(2_500)
    countAll()
    countAll()
    assert.equal(ledger.size, 2_500)
    await ledger.flush()
    await ledger.flush()
    assert.deepEqual(disk.chunks, [1_000, 1_000, 500])
    assert.equal(disk.total, 5_000)
    assert.equal(ledger.size, 0)
  })

  it('writes counts in the order of their places', async () => {
    const disk = new Disk()
    const ledger = new Ledger(disk.write, () => {})
    const table = openTable(ledger)
    for (let n = 0; n < 3_000; n++) {
      const place = ((n * 101) % 256).toString(16).padStart(2, '0')
      new Counter(`${place}-${n}`, table).count()
    }
    await ledger.flush()
    const inOrder = disk.places.toSorted((a, b) => a - b)
    assert.deepEqual(disk.places, inOrder)
    assert.equal(new Set(disk.places).size, 256)
  })

  for (const [where, makeId] of [
    ['anywhere', () => randomUUID()],
    ['at one place', () => `user-${randomUUID()}`],
  ] as const) {
    it(`writes the other counts, ${where}, if one can never be written`, async () => {
      const disk = new Disk()
      const ledger = new Ledger(disk.write, () => {})
      const table = openTable(ledger)
      const broken = '00'
      disk.broken = broken
      new Counter(broken, table).count()
      for (let n = 0; n < 2_999; n++) new Counter(makeId(), table).count()
      await assert.rejects(ledger.flush(), /broken/)
      assert.equal(disk.total, 0)
      await assert.rejects(ledger.flush(), /broken/)
      assert.deepEqual([disk.total, ledger.size], [2_000, 1_000])
      disk.broken = undefined
      await ledger.flush()
      assert.deepEqual([disk.total, ledger.size], [3_000, 0])
    })
  }

  it('leaves what is counted meanwhile for the next flush', async () => {
    const { disk, ledger, countAll } = open(2_500)
    countAll()
    const flushing = ledger.flush()
    await nextTurn()
    countAll()
    await flushing
    // Only what had not been collected when it was counted again was written twice as much.
    const left = ledger.size
    assert.ok(left > 0)
    assert.equal(disk.total, 5_000 - left)
    await ledger.flush()
    assert.equal(disk.total, 5_000)
  })

  it('keeps counts that it cannot write, with what is counted meanwhile', async () => {
    const { disk, ledger, countAll } = open(2_500)
    countAll()
    const blocked = Promise.withResolvers<void>()
    disk.free = blocked.promise
    const flushing = ledger.flush()
    await nextTurn()
    disk.isFull = true
    countAll()
    blocked.resolve()
    await assert.rejects(flushing, /full/)
    assert.deepEqual([disk.total, ledger.size], [0, 2_500])
    disk.isFull = false
    await ledger.flush()
    assert.equal(disk.total, 5_000)
  })

  it('reports how long the oldest count has waited, even if writing fails', async () => {
    const { disk, ledger, items } = open(2)
    const [one, other] = items
    assert.equal(ledger.lagMs, 0)
    one?.count()
    const addedBy = performance.now()
    disk.isFull = true
    await assert.rejects(ledger.flush())
    other?.count()
    const askedAt = performance.now()
    assert.ok(ledger.lagMs >= askedAt - addedBy)
    disk.isFull = false
    const startedAt = performance.now()
    const flushing = ledger.flush()
    await nextTurn()
    one?.count()
    await flushing
    assert.ok(ledger.lagMs <= performance.now() - startedAt, 'it was counted during the flush')
  })

  it('runs work between flushes, in order', async () => {
    const { disk, ledger, countAll } = open(1_500)
    countAll()
    const first = ledger.flush()
    const seen = ledger.betweenFlushes(() => [disk.total, ledger.size])
    await nextTurn()
    countAll()
    const second = ledger.flush()
    const [total = 0, left = 0] = await seen
    assert.equal(total + left, 1_500 + left, 'the work sees whole flushes')
    await Promise.all([first, second])
    assert.equal(disk.total, 3_000)
  })

  it('makes readers wait for writes, but not for ever', async (t) => {
    const disk = new Disk()
    const away = Promise.withResolvers<void>()
    disk.free = away.promise
    const ledger = new Ledger(disk.write, () => {})
    const table = openTable(ledger)
    const counter = new Counter('a', table)
    counter.count()
    const flushed = ledger.flush()
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const late = ledger.betweenFlushes(() => disk.total)
    t.mock.timers.tick(5_000)
    await assert.rejects(late, { code: 'SERVICE_UNAVAILABLE' })
    const next = ledger.betweenFlushes(() => disk.total)
    away.resolve()
    await flushed
    assert.equal(await next, 1)
  })

  it('writes the last counts as soon as the disk accepts them, until it is too late', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const disk = new Disk()
    const ledger = new Ledger(disk.write, () => {})
    const table = openTable(ledger)
    const counter = new Counter('a', table)
    counter.count()
    disk.isFull = true
    const flushed = ledger.flushLast(3_000)
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    disk.isFull = false
    await flushed
    assert.equal(disk.total, 1)

    counter.count()
    disk.isFull = true
    const failed = ledger.flushLast(3_000)
    t.mock.timers.tick(3_000)
    await assert.rejects(failed, { message: 'full' })
    assert.equal(ledger.size, 1)
  })

  it('tries to write the last counts once, unless it is given time', async (t) => {
    const write = t.mock.fn<WriteCounts>(() => Promise.reject(new Error('full')))
    const ledger = new Ledger(write, () => {})
    const table = openTable(ledger)
    new Counter('a', table).count()
    await assert.rejects(ledger.flushLast(), { message: 'full' })
    assert.equal(write.mock.callCount(), 1)
  })

  it('lets no write wait for longer than the last counts', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const write: WriteCounts = async (_uses, signal) => {
      await once(signal, 'abort')
      return { notices: [] }
    }
    const ledger = new Ledger(write, () => {})
    const table = openTable(ledger)
    new Counter('a', table).count()
    const flushed = ledger.flush()
    await nextTurn()
    const last = ledger.flushLast(3_000)
    t.mock.timers.tick(3_000)
    await Promise.all([flushed, last])
    assert.equal(ledger.size, 0)
  })
})
