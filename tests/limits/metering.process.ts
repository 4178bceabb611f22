import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { startLoad } from '../http/load.ts'
import { addKey, newDataFolder, startServer } from '../support/process.ts'

// run: alone

/*
 * Counters and rate limits when the process ends in the middle of its work. It flushes once a second, but a busy
 * disk may delay a flush. So what may be lost depends on the flushes that the test has seen.
 */

const ROUNDS = 10
const CLIENTS = 16
const PER_MINUTE = 1_000_000

const { dataDir, settings: folder, remove } = newDataFolder()
after(remove)

const plans = join(dataDir, 'plans.json')
const settings = { ...folder, MERIDIAN_PLANS: plans }
const wide = { monthlyCap: 10 ** 9, maxKeys: 10, maxSites: 1, price: 0 }
let key: string
before(async () => {
  writeFileSync(
    plans,
    JSON.stringify([
      { id: 'free', name: 'Free', ...wide, requestsPerMinute: PER_MINUTE },
      { id: 'slow', name: 'Slow', ...wide, price: 1, requestsPerMinute: 600 },
    ]),
  )
  key = await addKey(settings, 'ada@example.com', '--plan', 'free')
})

/** Reads the database. A server may be running. */
function read(...queries: readonly string[]): number[] {
  const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
  try {
    return queries.map((sql) => Number(db.prepare(`SELECT ${sql}`).pluck().get()))
  } finally {
    db.close()
  }
}

function readCounted(): number {
  const [periods = 0, lookUps, answered] = read(
    'coalesce(sum(requests), 0) FROM usage_by_period',
    'coalesce(sum(look_ups), 0) FROM usage_by_operation',
    'coalesce(sum(requests), 0) FROM usage_by_operation WHERE status IN (200, 404)',
  )
  assert.equal(lookUps, periods, 'days and periods must have the same count')
  assert.equal(answered, periods, 'operations and periods must have the same count')
  return periods
}

/** The requests that are stored. */
const readRequests = () => read('sum(requests) FROM usage_by_period')[0] ?? 0

/** Watches what a server stores. */
function watchFlushes() {
  /** Each number of stored requests, and when it was read last. */
  const seen: { requests: number; readAt: number }[] = []
  const look = () => {
    const readAt = performance.now()
    const requests = readRequests()
    const last = seen.at(-1)
    if (last?.requests === requests) last.readAt = readAt
    else seen.push({ requests, readAt })
  }
  look()
  const timer = setInterval(look, 10)
  return {
    flushes: () => seen.length - 1,
    /** Looks once more. Returns a moment that was over when the last flush began: it followed another one. */
    stop: () => {
      clearInterval(timer)
      look()
      return seen.at(-3)?.readAt ?? Number.NEGATIVE_INFINITY
    },
  }
}

describe('kill -9 under load', () => {
  for (let round = 1; round <= ROUNDS; round++) {
    it(`loses at most the counts of the last two flushes, and counts nothing twice: round ${round}`, async () => {
      const earlier = readCounted()
      const server = await startServer(settings)
      const load = startLoad(server.url, key, CLIENTS)
      const watch = watchFlushes()
      while (load.answeredAt.length <= 100 || watch.flushes() < 2) await sleep(10)
      await sleep(Math.random() * 2_000)
      await server.stop('SIGKILL')
      await load.ended
      const flushedAt = watch.stop()
      const counted = readCounted() - earlier
      const answered = load.answeredAt.length
      const lately = load.answeredAt.filter((at) => at > flushedAt).length
      assert.ok(answered > 100, `only ${answered} were answered: ${load.others.slice(0, 3)}`)
      assert.ok(counted <= answered, `${counted} counted, ${answered} answered`)
      assert.ok(answered - counted <= lately, `${answered - counted} lost, ${lately} were late`)
    })
  }

  it('loses nothing of a bucket that has been flushed', async () => {
    const slow = await addKey(settings, 'slow@example.com', '--plan', 'slow')
    const earlier = readRequests()
    const first = await startServer(settings)
    for (let n = 0; n < 400; n++) assert.equal((await lookUp(first.url, slow)).status, 200)
    const spentAt = performance.now()
    // Counts and buckets are written together.
    while (readRequests() < earlier + 400) await sleep(20)
    await first.stop('SIGKILL')
    const second = await startServer(settings)
    const { left } = await lookUp(second.url, slow)
    const refilled = ((performance.now() - spentAt) / 60_000) * 600
    await second.stop('SIGKILL')
    // A few of the 400 were refilled while they were spent, but fewer than since then.
    assert.ok(left <= 200 + 2 * refilled, `${left} left, ${refilled} refilled`)
  })
})

async function lookUp(url: string, apiKey: string) {
  const answer = await fetch(`${url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': apiKey } })
  await answer.text()
  const left = /;r=(\d+);/.exec(answer.headers.get('ratelimit') ?? '')?.[1]
  return { status: answer.status, left: Number(left) }
}

describe('SIGTERM under load', () => {
  it('counts exactly the answered requests, and answers requests in flight', async () => {
    const earlier = readCounted()
    const server = await startServer(settings)
    const load = startLoad(server.url, key, CLIENTS)
    await sleep(1_700)
    const { code, stderr } = await server.stop('SIGTERM')
    await load.ended
    assert.equal(code, 0, stderr)
    assert.equal(readCounted() - earlier, load.answeredAt.length)
    for (const other of load.others) assert.match(other, /ECONNRE|socket hang up/)
  })
})
