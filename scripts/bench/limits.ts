import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFlusher, type Flusher } from '../../lib/db/flusher.ts'
import { openDb } from '../../lib/db/open.ts'
import { createMeterStore } from '../../lib/limits/meter-store.ts'
import { type Metered, Meters } from '../../lib/limits/meters.ts'
import { createRandom } from '../random.ts'
import { markdownTable, median } from './table.ts'

const CALLERS = [1, 1_000, 100_000]
const REQUESTS = 200_000
const PASSES = 5
const PLAN = { requestsPerMinute: 1_000_000_000, monthlyCap: 1_000_000_000 }

/** Measures what limiting and counting add to a request, and what a flush costs. Returns a table. */
export async function benchLimits(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  try {
    const rows = CALLERS.map((callers) => measure(join(folder, `${callers}.db`), callers))
    return markdownTable(['callers', 'µs per request', 'flush ms', 'longest chunk ms'], rows)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function measure(file: string, count: number): number[] {
  const db = openDb(file)
  const flusher = createFlusher(db)
  const nothing = () => {}
  const store = createMeterStore(db)
  const options = { store, write: flusher.add, audit: nothing, announce: nothing }
  const meters = new Meters(options, Date.now())
  const callers = Array.from({ length: count }, (_, n) => ({
    userId: `user ${n}`,
    plan: PLAN,
    paid: null,
    key: { id: `key ${n}` },
  }))
  const requests: number[] = []
  const flushes: number[] = []
  const chunks: number[] = []
  for (let pass = 0; pass <= PASSES; pass++) {
    const perRequest = timeRequests(meters, callers)
    const { total, longest } = timeFlush(flusher)
    if (pass === 0) continue
    requests.push(perRequest)
    flushes.push(total)
    chunks.push(longest)
  }
  db.$client.close()
  return [count, median(requests), median(flushes), median(chunks)]
}

function timeRequests(meters: Meters, callers: readonly Metered[]): number {
  const random = createRandom(1)
  const picked = Array.from(
    { length: REQUESTS },
    () => callers[Math.floor(random() * callers.length)],
  )
  let left = 0
  const startedAt = performance.now()
  for (const caller of picked) {
    if (caller === undefined) continue
    const now = Date.now()
    left += meters.take(caller, now).remaining
    if (!meters.isOverCap(caller, now)) meters.count(caller, now)
  }
  if (left === 0) throw new Error('Cannot measure: nothing was allowed')
  return ((performance.now() - startedAt) * 1000) / REQUESTS
}

/** `longest`: what the event loop would wait for at once. */
function timeFlush(flusher: Flusher): { total: number; longest: number } {
  let total = 0
  let longest = 0
  while (flusher.size() > 0) {
    const startedAt = performance.now()
    flusher.flushChunk()
    const took = performance.now() - startedAt
    total += took
    longest = Math.max(longest, took)
  }
  return { total, longest }
}
