import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { mintKey } from '../../lib/access/api-key.ts'
import { type KeyRing, openKeyRing } from '../../lib/access/key-ring.ts'
import { createLastUsed } from '../../lib/access/last-used.ts'
import { createFlusher } from '../../lib/db/flusher.ts'
import { type Db, openDb } from '../../lib/db/open.ts'
import { readPlans } from '../../lib/plans.ts'
import { createRandom } from '../random.ts'
import { fillKeys } from './fill-keys.ts'
import { markdownTable, median } from './table.ts'

const COUNTS = [1, 1_000, 100_000]
const FINDS = 200_000
const TURNS = 20_000
const PASSES = 5
const TEXT_LENGTH = 72

const plans = readPlans(undefined)

/** Measures what keys cost by their number: to load, to keep, to find. Returns a table. */
export async function benchKeys(): Promise<string> {
  const rows: number[][] = []
  for (const count of COUNTS) rows.push(await measure(count))
  const titles = ['load ms', 'MB', 'find µs', 'in a turn of its own µs', 'unknown µs', 'flush ms']
  return markdownTable(['keys', ...titles], rows)
}

async function measure(count: number): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  const db = openDb(join(folder, 'app.db'))
  try {
    const texts = fillKeys(db, count)
    const before = heapBytes()
    // Once: a server does it once, too, and nothing is warm then.
    const startedAt = performance.now()
    const ring = openKeyRing(db, plans, fail)
    const load = performance.now() - startedAt
    const megabytes = (heapBytes() - before) / 1e6
    const asked = ask(texts)
    const unknown = ask(Array.from({ length: 1_000 }, () => mintKey('secret').text))
    const find = microseconds(ring, asked)
    const ownTurn = await turnMicroseconds(ring, asked)
    const flush = flushMilliseconds(db, ring, texts)
    return [count, load, megabytes, find, ownTurn, microseconds(ring, unknown), flush]
  } finally {
    db.$client.close()
    rmSync(folder, { recursive: true })
  }
}

/** Bytes of texts in random order, of which each pass makes new strings, as headers are. */
function ask(texts: readonly string[]): Buffer {
  const random = createRandom(3)
  const pick = () => texts[Math.floor(random() * texts.length)] ?? ''
  return Buffer.from(Array.from({ length: FINDS }, pick).join(''), 'latin1')
}

const textAt = (asked: Buffer, n: number) =>
  asked.toString('latin1', n * TEXT_LENGTH, (n + 1) * TEXT_LENGTH)

function microseconds(ring: KeyRing, asked: Buffer): number {
  const now = Date.now()
  const finding = passes(() => {
    for (let n = 0; n < FINDS; n++) ring.find(textAt(asked, n), now)
  })
  return ((median(finding) - median(passes(() => readAll(asked)))) * 1_000) / FINDS
}

function readAll(asked: Buffer): void {
  let sum = 0
  for (let n = 0; n < FINDS; n++) sum += textAt(asked, n).charCodeAt(9)
  if (sum === 0) throw new Error('Cannot measure: nothing was read')
}

/** With the look for changes of others, which the first request of each turn makes. */
async function turnMicroseconds(ring: KeyRing, asked: Buffer): Promise<number> {
  const now = Date.now()
  const timed = async (work: (n: number) => void) => {
    const startedAt = performance.now()
    for (let n = 0; n < TURNS; n++) {
      work(n)
      await nextTurn()
    }
    return performance.now() - startedAt
  }
  const differences: number[] = []
  for (let pass = 0; pass < PASSES; pass++) {
    const idle = await timed((n) => textAt(asked, n))
    differences.push((await timed((n) => ring.find(textAt(asked, n), now))) - idle)
  }
  return (median(differences) * 1_000) / TURNS
}

/** Writes when keys were last used, every one of them. */
function flushMilliseconds(db: Db, ring: KeyRing, texts: readonly string[]): number {
  const now = Date.now()
  const flusher = createFlusher(db)
  const lastUsed = createLastUsed(db, flusher.add)
  const keys = texts.map((text) => ring.find(text, now)).filter((key) => key !== null)
  for (const key of keys) lastUsed.touch(key, now)
  return milliseconds(flusher.flushNow)
}

/** Milliseconds of each pass, after one to warm up. */
function passes(work: () => void): number[] {
  work()
  return Array.from({ length: PASSES }, () => milliseconds(work))
}

function milliseconds(work: () => void): number {
  const startedAt = performance.now()
  work()
  return performance.now() - startedAt
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  return process.memoryUsage().heapUsed
}

function fail(error: unknown): never {
  throw error
}
