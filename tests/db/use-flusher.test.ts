import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createUseFlusher, tablePageOf, type Unwritten } from '../../lib/db/use-flusher.ts'
import type { Uses, WriteUses, Written } from '../../lib/db/uses.ts'

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

  readonly write = async ({ keys }: Uses): Promise<Written> => {
    await this.free
    if (this.isFull) throw new Error('full')
    if (keys.some(({ keyId }) => keyId === this.broken)) throw new Error('broken')
    this.chunks.push(keys.length)
    for (const { keyId, usedAt } of keys) {
      this.totals.set(keyId, (this.totals.get(keyId) ?? 0) + usedAt)
      this.places.push(tablePageOf(keyId))
    }
    return { notices: [] }
  }

  get total(): number {
    return [...this.totals.values()].reduce((sum, n) => sum + n, 0)
  }
}

/** Counts events and queues itself, as meters do. */
class Counter implements Unwritten {
  readonly place: number
  readonly #id: string
  readonly #add: (item: Unwritten) => void
  #count = 0
  #inFlight = 0
  #isQueued = false

  constructor(id: string, add: (item: Unwritten) => void) {
    this.place = tablePageOf(id)
    this.#id = id
    this.#add = add
  }

  count(): void {
    this.#count += 1
    this.#queue()
  }

  collect({ keys }: Uses): void {
    keys.push({ keyId: this.#id, usedAt: this.#count })
    this.#inFlight = this.#count
    this.#count = 0
    this.#isQueued = false
  }

  written(): void {
    this.#inFlight = 0
  }

  notWritten(): void {
    this.#count += this.#inFlight
    this.#inFlight = 0
    this.#queue()
  }

  #queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#add(this)
  }
}

function open(counters: number) {
  const disk = new Disk()
  const flusher = createUseFlusher(disk.write, () => {})
  const items = Array.from({ length: counters }, (_, id) => new Counter(`${id}`, flusher.add))
  const countAll = () => {
    for (const item of items) item.count()
  }
  return { disk, flusher, items, countAll }
}

describe('createUseFlusher', () => {
  it('writes each count once, in chunks', async () => {
    const { disk, flusher, countAll } = open(2_500)
    countAll()
    countAll()
    assert.equal(flusher.size(), 2_500)
    await flusher.flush()
    await flusher.flush()
    assert.deepEqual(disk.chunks, [1_000, 1_000, 500])
    assert.equal(disk.total, 5_000)
    assert.equal(flusher.size(), 0)
  })

  it('writes counts in the order of their places', async () => {
    const disk = new Disk()
    const flusher = createUseFlusher(disk.write, () => {})
    for (let n = 0; n < 3_000; n++) {
      const place = ((n * 101) % 256).toString(16).padStart(2, '0')
      new Counter(`${place}-${n}`, flusher.add).count()
    }
    await flusher.flush()
    assert.deepEqual(
      disk.places,
      disk.places.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(disk.places).size, 256)
  })

  for (const [where, makeId] of [
    ['anywhere', () => randomUUID()],
    ['at one place', () => `user-${randomUUID()}`],
  ] as const) {
    it(`writes the other counts, ${where}, if one can never be written`, async () => {
      const disk = new Disk()
      const flusher = createUseFlusher(disk.write, () => {})
      const broken = '00'
      disk.broken = broken
      new Counter(broken, flusher.add).count()
      for (let n = 0; n < 2_999; n++) new Counter(makeId(), flusher.add).count()
      await assert.rejects(flusher.flush(), /broken/)
      assert.equal(disk.total, 0)
      await assert.rejects(flusher.flush(), /broken/)
      assert.deepEqual([disk.total, flusher.size()], [2_000, 1_000])
      disk.broken = undefined
      await flusher.flush()
      assert.deepEqual([disk.total, flusher.size()], [3_000, 0])
    })
  }

  it('leaves what is counted meanwhile for the next flush', async () => {
    const { disk, flusher, countAll } = open(2_500)
    countAll()
    const flushing = flusher.flush()
    await nextTurn()
    countAll()
    await flushing
    // Only what had not been collected when it was counted again was written twice as much.
    const left = flusher.size()
    assert.ok(left > 0)
    assert.equal(disk.total, 5_000 - left)
    await flusher.flush()
    assert.equal(disk.total, 5_000)
  })

  it('keeps counts that it cannot write, with what is counted meanwhile', async () => {
    const { disk, flusher, countAll } = open(2_500)
    countAll()
    const blocked = Promise.withResolvers<void>()
    disk.free = blocked.promise
    const flushing = flusher.flush()
    await nextTurn()
    disk.isFull = true
    countAll()
    blocked.resolve()
    await assert.rejects(flushing, /full/)
    assert.deepEqual([disk.total, flusher.size()], [0, 2_500])
    disk.isFull = false
    await flusher.flush()
    assert.equal(disk.total, 5_000)
  })

  it('reports how long the oldest count has waited, even if writing fails', async () => {
    const { disk, flusher, items } = open(2)
    const [one, other] = items
    assert.equal(flusher.lagMs(), 0)
    one?.count()
    const addedBy = performance.now()
    disk.isFull = true
    await assert.rejects(flusher.flush())
    other?.count()
    const askedAt = performance.now()
    assert.ok(flusher.lagMs() >= askedAt - addedBy)
    disk.isFull = false
    const startedAt = performance.now()
    const flushing = flusher.flush()
    await nextTurn()
    one?.count()
    await flushing
    assert.ok(flusher.lagMs() <= performance.now() - startedAt, 'it was counted during the flush')
  })

  it('runs work between flushes, in order', async () => {
    const { disk, flusher, countAll } = open(1_500)
    countAll()
    const first = flusher.flush()
    const seen = flusher.betweenFlushes(() => [disk.total, flusher.size()])
    await nextTurn()
    countAll()
    const second = flusher.flush()
    const [total = 0, left = 0] = await seen
    assert.equal(total + left, 1_500 + left, 'the work sees whole flushes')
    await Promise.all([first, second])
    assert.equal(disk.total, 3_000)
  })

  it('makes readers wait for writes, but not for ever', async (t) => {
    const disk = new Disk()
    const away = Promise.withResolvers<void>()
    disk.free = away.promise
    const flusher = createUseFlusher(disk.write, () => {})
    const counter = new Counter('a', flusher.add)
    counter.count()
    const flushed = flusher.flush()
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const late = flusher.betweenFlushes(() => disk.total)
    t.mock.timers.tick(5_000)
    await assert.rejects(late, { code: 'SERVICE_UNAVAILABLE' })
    const next = flusher.betweenFlushes(() => disk.total)
    away.resolve()
    await flushed
    assert.equal(await next, 1)
  })

  it('writes the last counts as soon as the disk accepts them, until it is too late', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const disk = new Disk()
    const flusher = createUseFlusher(disk.write, () => {})
    const counter = new Counter('a', flusher.add)
    counter.count()
    disk.isFull = true
    const flushed = flusher.flushLast(3_000)
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    disk.isFull = false
    await flushed
    assert.equal(disk.total, 1)

    counter.count()
    disk.isFull = true
    const failed = flusher.flushLast(3_000)
    t.mock.timers.tick(3_000)
    await assert.rejects(failed, { message: 'full' })
    assert.equal(flusher.size(), 1)
  })

  it('tries to write the last counts once, unless it is given time', async (t) => {
    const write = t.mock.fn<WriteUses>(() => Promise.reject(new Error('full')))
    const flusher = createUseFlusher(write, () => {})
    new Counter('a', flusher.add).count()
    await assert.rejects(flusher.flushLast(), { message: 'full' })
    assert.equal(write.mock.callCount(), 1)
  })

  it('lets no write wait for longer than the last counts', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const write: WriteUses = async (_uses, signal) => {
      await once(signal, 'abort')
      return { notices: [] }
    }
    const flusher = createUseFlusher(write, () => {})
    new Counter('a', flusher.add).count()
    const flushed = flusher.flush()
    await nextTurn()
    const last = flusher.flushLast(3_000)
    t.mock.timers.tick(3_000)
    await Promise.all([flushed, last])
    assert.equal(flusher.size(), 0)
  })
})
