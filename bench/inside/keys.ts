import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { mintKey } from '../../lib/access/api-key.ts'
import { type KeyRing, openKeyRing } from '../../lib/access/key-ring/key-ring.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { openDb } from '../../lib/db/open.ts'
import { createRandom, pick } from '../../scripts/parts/random.ts'
import { fillKeys } from '../parts/fill-keys.ts'
import { makeFolder } from '../parts/machine.ts'
import { medianTime } from '../parts/median.ts'
import { printTable } from '../parts/table.ts'

const COUNTS = [1, 1_000, 100_000]
const FINDS = 200_000
const PASSES = 5
const TEXT_LENGTH = 72

/** Measures loading and finding keys, and the memory they take, for several numbers of keys. */
export async function benchKeys(): Promise<void> {
  printTable(await Array.fromAsync(COUNTS, measure))
}

async function measure(count: number) {
  using folder = makeFolder()
  const db = openDb(join(folder.path, 'app.db'))
  const texts = fillKeys(db, count)
  const before = heapBytes()
  // Measured once, without a warm-up, because a server loads its keys once.
  const startedAt = performance.now()
  const ring = openKeyRing(db, readPlans(undefined), fail)
  while (ring.size() < count) await nextTurn()
  const loadMs = performance.now() - startedAt
  const megabytes = (heapBytes() - before) / 1e6
  const known = pickTexts(texts)
  const unknown = pickTexts(Array.from({ length: 1_000 }, () => mintKey('secret').text))
  const row = {
    keys: count,
    'load ms': loadMs,
    MB: megabytes,
    'find µs': await findMicroseconds(ring, known),
    'first find of a millisecond µs': await findMicroseconds(ring, known, 1),
    'unknown µs': await findMicroseconds(ring, unknown),
  }
  db.$client.close()
  return row
}

/** Random key texts as bytes. Each pass makes new strings from them, like a server from headers. */
function pickTexts(texts: readonly string[]): Buffer {
  const random = createRandom(3)
  return Buffer.from(Array.from({ length: FINDS }, () => pick(random, texts)).join(''), 'latin1')
}

/** The time of one find, without the time to make its text, with `stepMs` between two finds. */
async function findMicroseconds(ring: KeyRing, picked: Buffer, stepMs = 0): Promise<number> {
  // The first look-up of a millisecond also checks for changes by other processes.
  let now = Date.now()
  const time = (work: (text: string) => unknown) =>
    medianTime(PASSES, async () => {
      for (let n = 0; n < FINDS; n++) {
        work(picked.toString('latin1', n * TEXT_LENGTH, (n + 1) * TEXT_LENGTH))
        now += stepMs
      }
    })
  const withFind = await time((text) => ring.find(text, now))
  const withoutFind = await time((text) => text.length)
  return ((withFind - withoutFind) * 1_000) / FINDS
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
