import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { openDb } from '../../lib/db/open.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { hourOf } from '../../lib/rum/hour.ts'
import { type KeptBeacon, keepBeacon } from '../../lib/rum/ingest/beacon.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openRum, type TestRum } from './open-rum.ts'

const folder = tempFolder()
const NEVER_MS = 1_000_000
const from = { address: null, now: NOON }
let files = 0
const REFUSE_REMOVAL =
  "CREATE TRIGGER no BEFORE DELETE ON rum_journal BEGIN SELECT raise(ABORT, 'no'); END"

/** Opens telemetry on a file that can be reopened as a killed process would leave it. */
function open(file = join(folder, `${files++}.db`), checkpointMs = NEVER_MS) {
  const db = openDb(file)
  const errors: string[] = []
  const onError = (_: unknown, message: string) => {
    errors.push(message)
  }
  const rum = openRum({ db, findCountry: () => 'GB', onError, checkpointMs })
  /** Closes only the connection, so that everything in memory is lost. */
  const kill = () => {
    db.$client.close()
    return open(file)
  }
  const left = () => Number(db.$client.prepare('SELECT count(*) FROM rum_journal').pluck().get())
  return { rum, db, file, errors, kill, left }
}

type Step = number | 'checkpoint' | 'crash'

async function take(opened: ReturnType<typeof open>, step: Step) {
  if (step === 'crash') return opened.kill()
  if (step === 'checkpoint') await opened.rum[Symbol.asyncDispose]()
  else assert.equal(await opened.rum.accept('site', lcp(step), from), 'stored')
  return opened
}

function rowsOf(rum: TestRum, siteId = 'site') {
  const hour = hourOf(NOON)
  return rum.readSummary({ siteId, period: { from: hour - 48, to: hour + 48 } })
}

async function samplesOf(rum: TestRum, siteId = 'site'): Promise<number> {
  return (await rowsOf(rum, siteId)).reduce((sum, { sampleCount }) => sum + sampleCount, 0)
}

function lcp(value: number): KeptBeacon {
  return keepBeacon({ path: '/a', metrics: { lcp: value }, errors: [{ message: 'no' }] })
}

describe('telemetry', () => {
  it('answers the same from memory and from the database', async () => {
    const { rum, left } = open()
    for (const value of [100, 300, 200]) await rum.accept('site', lcp(value), from)
    const before = await rowsOf(rum)
    assert.deepEqual(before[0]?.lcp, { p50: 200, p75: 275, p95: 300 })
    assert.equal(left(), 3)
    await rum[Symbol.asyncDispose]()
    assert.equal(left(), 0)
    assert.deepEqual(await rowsOf(rum), before)
  })

  it('counts accepted beacons once, however often it crashes', async () => {
    let opened = open()
    for (let round = 1; round <= 5; round++) {
      for (const site of ['site', 'other']) await opened.rum.accept(site, lcp(round * 100), from)
      opened = opened.kill()
      assert.equal(opened.left(), 0)
      assert.equal(await samplesOf(opened.rum), round)
      assert.equal(await samplesOf(opened.rum, 'other'), round)
    }
    assert.deepEqual((await rowsOf(opened.rum))[0]?.lcp, { p50: 300, p75: 425, p95: 500 })
  })

  it('puts each beacon into the hour of its arrival, even after a crash', async () => {
    const opened = open()
    for (const now of [NOON - 1, NOON, NOON + DAY_MS]) {
      await opened.rum.accept('site', lcp(5), { address: null, now })
    }
    const hours = (await rowsOf(opened.kill().rum)).map(({ hour }) => hour)
    assert.deepEqual(hours, ['2026-01-15T11', '2026-01-15T12', '2026-01-16T12'])
  })

  it('keeps the journal if a checkpoint fails, and counts nothing twice', async () => {
    const opened = open()
    await opened.rum.accept('site', lcp(100), from)
    opened.db.$client.exec(REFUSE_REMOVAL)
    await opened.rum[Symbol.asyncDispose]()
    assert.deepEqual(opened.errors, ['cannot sum up telemetry; it stays in the journal'])
    assert.equal(opened.left(), 1)
    assert.equal(opened.db.$client.prepare('SELECT count(*) FROM rum_hours').pluck().get(), 0)
    opened.db.$client.exec('DROP TRIGGER no')
    const { rum, left } = opened.kill()
    assert.deepEqual([await samplesOf(rum), left()], [1, 0])
  })

  it('loses nothing after any order of beacons, checkpoints and crashes', async () => {
    const AnyStep = fc.oneof(fc.nat(5_000), fc.constantFrom<Step>('checkpoint', 'crash'))
    const run = async (steps: readonly Step[]) => {
      let opened = open()
      for (const step of steps) opened = await take(opened, step)
      const sent = steps.filter((step) => typeof step === 'number').toSorted((a, b) => a - b)
      assert.equal(await samplesOf(opened.rum), sent.length)
      const middle = sent[(sent.length - 1) / 2]
      if (middle !== undefined) assert.equal((await rowsOf(opened.rum))[0]?.lcp.p50, middle)
      opened.db.$client.close()
    }
    await fc.assert(fc.asyncProperty(fc.array(AnyStep, { maxLength: 25 }), run), { numRuns: 25 })
  })

  it('accepts beacons during a checkpoint, and while checkpoints fail', async () => {
    const opened = open(undefined, 1)
    const sent: number[] = []
    const send = async (times: number) => {
      for (let n = 0; n < times; n++) {
        sent.push(n)
        const rows = Array.from({ length: 20 }, (_, at) =>
          keepBeacon({ path: `/p${at}`, metrics: { lcp: n } }),
        )
        await Promise.all(rows.map((beacon) => opened.rum.accept('site', beacon, from)))
      }
    }
    await send(20)
    opened.db.$client.exec(REFUSE_REMOVAL)
    await send(20)
    assert.equal(await samplesOf(opened.rum), 800)
    assert.equal((await rowsOf(opened.rum))[0]?.lcp.p50, 9.5)
    opened.db.$client.exec('DROP TRIGGER no')
    await send(20)
    assert.equal(await samplesOf(opened.rum), 1_200)
    await opened.rum[Symbol.asyncDispose]()
    assert.equal(opened.left(), 0)
    assert.equal(await samplesOf(opened.rum), 1_200)
    const paths = opened.db.$client.prepare('SELECT count(*), sum(samples) FROM rum_pages')
    assert.deepEqual(paths.raw().get(), [20, 1_200])
    assert.ok(opened.errors.length > 0)
  })

  it('refuses beacons over its limit', async () => {
    const options = { findCountry: () => 'GB', onError: assert.ifError, limit: 2 }
    await using rum = openRum({ db: openDb(':memory:'), ...options })
    const results = [1, 2, 3].map((value) => rum.accept('site', lcp(value), from))
    assert.deepEqual(await Promise.all(results), ['stored', 'stored', 'full'])
    assert.equal(await rum.accept('site', lcp(4), from), 'stored')
  })

  it('recovers after stored rows could not be read for a while', async () => {
    const { rum, db, errors } = open()
    await rum.accept('site', lcp(100), from)
    await rum[Symbol.asyncDispose]()
    db.$client.exec('ALTER TABLE rum_sketches RENAME TO gone')
    assert.equal(await rum.accept('site', lcp(300), from), 'stored')
    assert.equal(errors.length, 1)
    db.$client.exec('ALTER TABLE gone RENAME TO rum_sketches')
    assert.deepEqual((await rowsOf(rum))[0]?.lcp, { p50: 200, p75: 300, p95: 300 })
  })
})
