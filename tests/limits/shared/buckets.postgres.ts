import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Ask } from '../../../lib/limits/buckets/shared-bucket.ts'
import { NOON } from '../../support/helpers.ts'
import { ModelStore } from './model-store.ts'
import { countAllowed, MINUTE_MS, NODES, type Node, openNode, TEN } from './nodes.ts'
import { type StoreServer, startStore } from './store-server.ts'

/** So long that no bucket refills while the test runs, by whichever clock. */
const HOUR_MS = 60 * MINUTE_MS
/** At one moment, each further node may allow one request more. */
const AT_ONCE = 10 + NODES - 1
const MANY = 60

const ASK: fc.Arbitrary<Omit<Ask, 'windowMs' | 'capacity'>> = fc.record({
  id: fc.constantFrom('ada', 'all:ada', 'key with späces 🗝'),
  debt: fc.nat(3),
  returned: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 5, noNaN: true })),
  need: fc.nat(15),
  want: fc.nat(40),
})
const STEPS = fc.array(
  fc.record({
    pauseMs: fc.oneof(fc.constant(0), fc.nat(HOUR_MS)),
    asks: fc.uniqueArray(ASK, { selector: ({ id }) => id, minLength: 1 }),
    capacity: fc.constantFrom(1, 3, 10, 120),
  }),
  { maxLength: 20 },
)

const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

describe('buckets in PostgreSQL', () => {
  let server: StoreServer
  let now: number
  let reports: string[]
  let nodes: Node[]
  const openStore = () =>
    server.open({
      now: () => now,
      onError: (error) => reports.push(error instanceof Error ? error.message : String(error)),
    })
  const takeMany = () => countAllowed(nodes, TEN, MANY)
  /** Takes in another minute each time, since refused requests do not ask the store. */
  const takeUntil = async (isDone: () => boolean) => {
    while (!isDone()) {
      now += MINUTE_MS
      await takeMany()
      await pause()
    }
  }
  const recoveries = () => reports.filter((text) => text.startsWith('it had failed')).length

  before(async () => {
    server = await startStore()
  })
  after(() => server[Symbol.asyncDispose]())
  beforeEach(async () => {
    now = NOON
    reports = []
    await server.empty()
    nodes = Array.from({ length: NODES }, () => openNode(openStore()))
  })

  it('are charged by the rule of the model', async () => {
    const store = openStore()
    let runs = 0
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        const model = new ModelStore(NODES)
        runs += 1
        for (const { pauseMs, capacity, asks } of steps) {
          now += pauseMs
          model.time = now
          const all = asks.map((ask) => {
            return { ...ask, id: `${ask.id} ${runs}`, capacity, windowMs: HOUR_MS }
          })
          const [answer, wanted] = [await store.charge(all), await model.charge(all)]
          assert.deepEqual(answer, wanted)
        }
      }),
      { numRuns: 60 },
    )
    assert.deepEqual(reports, [])
  })

  it('allow at most one request more for each further node, and never more over time', async () => {
    let all = await takeMany()
    assert.ok(all >= 10 && all <= AT_ONCE, `${all} at once`)
    for (let minute = 1; minute <= 5; minute++) {
      now += MINUTE_MS
      all += await takeMany()
      assert.ok(all <= AT_ONCE + 10 * minute, `${all} after ${minute} minutes`)
    }
    assert.ok(all >= 60 - NODES, `${all} after 5 minutes`)
  })

  it('give at most their capacity once more after the store was killed and forgot them', async () => {
    const before = await takeMany()
    await server.stop()
    await server.start()
    // The old nodes refuse by what they know; new ones know nothing.
    const others = nodes.map(() => openNode(openStore()))
    const after = await countAllowed([...nodes, ...others], TEN, 2 * MANY)
    assert.ok(after >= 10 && after <= 10 + 2 * NODES - 1, `${after} after ${before}`)
    now += MINUTE_MS
    nodes = others
    const again = await takeMany()
    assert.ok(before + after + again <= AT_ONCE + NODES + 2 * 10, `${again} in the next minute`)
  })

  it('are shared out equally while the store is away, and used as a whole afterwards', async () => {
    await takeMany()
    await server.stop()
    await takeUntil(() => reports.length === NODES)
    for (let minute = 1; minute <= 3; minute++) {
      now += MINUTE_MS
      assert.equal(await takeMany(), 3 * NODES)
    }
    await server.start()
    await takeUntil(() => recoveries() === NODES)
    now += 2 * MINUTE_MS
    const allowed = await takeMany()
    assert.ok(allowed >= 10 && allowed <= AT_ONCE, `${allowed} afterwards`)
  })

  it('let requests go on while a stalled store does not answer', async () => {
    await takeMany()
    await server.pause()
    now += MINUTE_MS
    const allowed = await takeMany()
    assert.ok(allowed >= 3 && allowed <= 10, `${allowed} at first`)
    await takeUntil(() => reports.length === NODES)
    now += MINUTE_MS
    assert.equal(await takeMany(), 3 * NODES)
    await server.resume()
    await takeUntil(() => recoveries() === NODES)
  })

  it('are reported once when the store fails, and once when it answers again', async () => {
    await takeMany()
    await server.stop()
    const store = openStore()
    const ask = { id: 'ada', ...TEN, debt: 0, returned: 0, need: 1, want: 0 }
    for (let n = 0; n < 5; n++) await assert.rejects(store.charge([ask]))
    assert.equal(reports.length, 1)
    await server.start()
    while (recoveries() === 0) {
      await store.charge([ask]).catch(() => {})
      await pause()
    }
    await store.charge([ask])
    assert.equal(reports.length, 2)
    assert.match(reports.join(), /it had failed \d+ times$/)
  })
})
