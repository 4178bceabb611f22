import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { openDb } from '../../../lib/db/open.ts'
import { keepBeacon } from '../../../lib/rum/ingest/beacon.ts'
import { addGroup } from '../../../lib/rum/postgres/entries.ts'
import { createPgRumReader } from '../../../lib/rum/postgres/reader.ts'
import { replayJournal } from '../../../lib/rum/postgres/replay.ts'
import { createRumReader } from '../../../lib/rum/reader.ts'
import { createRumStore } from '../../../lib/rum/store/store.ts'
import { openRumWriter, type RumWriter } from '../../../lib/rum/writer.ts'
import { NOON } from '../../support/helpers.ts'
import {
  ALL,
  HOUR,
  makeDraft,
  openNode,
  poolOfSuite,
  read,
  readSite,
  removeAll,
  send,
} from './telemetry.ts'

const NEVER_MS = 1_000_000

/** A number of beacons, or a write of all rows, or a refused beacon. */
type Step = number | 'checkpoint' | 'drop'

async function take(writer: RumWriter, steps: readonly Step[]): Promise<void> {
  let sent = 0
  for (const step of steps) {
    if (step === 'drop') await writer.countDropped('a', 'bot', NOON)
    else if (step === 'checkpoint') {
      for (const siteId of ['a', 'b']) await writer.checkpointSite(siteId)
    } else {
      const first = sent
      sent += step
      const drafts = Array.from({ length: step }, (_, at) => makeDraft(first + at))
      await send(writer, drafts)
    }
  }
}

describe('telemetry on PostgreSQL', () => {
  const pool = poolOfSuite()

  /** Opens telemetry on SQLite and on PostgreSQL. */
  const openBoth = async () => {
    const db = openDb(':memory:')
    const onError = assert.ifError
    const { writer, errors } = await openNode(pool)
    return {
      db,
      errors,
      sqlite: openRumWriter(db, { now: () => NOON, onError, checkpointMs: NEVER_MS }),
      postgres: writer,
      readers: { sqlite: createRumReader(db), postgres: createPgRumReader(pool) },
    }
  }

  it('answers the same as telemetry on SQLite', async () => {
    const AnyStep = fc.oneof(fc.nat(40), fc.constantFrom('checkpoint' as const, 'drop' as const))
    const AnyFilter = fc.record(
      {
        siteId: fc.constantFrom('a', 'b'),
        period: fc
          .tuple(fc.integer({ min: -3, max: 60 }), fc.integer({ min: -3, max: 60 }))
          .map(([a, b]) => ({ from: HOUR + Math.min(a, b), to: HOUR + Math.max(a, b) })),
        country: fc.constantFrom('GB', '', 'FR'),
        device: fc.constantFrom('mobile', ''),
      },
      { requiredKeys: ['siteId', 'period'] },
    )
    const check = async (steps: readonly Step[], filters: readonly (typeof ALL)[]) => {
      await removeAll(pool)
      const { db, sqlite, postgres, readers, errors } = await openBoth()
      await take(sqlite, steps)
      await take(postgres, steps)
      for (const filter of [ALL, ...filters]) {
        const found = await readSite(postgres, readers.postgres, filter)
        assert.deepEqual(found, await readSite(sqlite, readers.sqlite, filter))
      }
      await postgres[Symbol.asyncDispose]()
      await sqlite[Symbol.asyncDispose]()
      db.$client.close()
      assert.deepEqual(errors, [])
    }
    const steps = fc.array(AnyStep, { maxLength: 12 })
    const property = fc.asyncProperty(steps, fc.array(AnyFilter, { maxLength: 3 }), check)
    await fc.assert(property, { numRuns: 15 })
  })

  it('passes over what a newer release has put into the journal', async () => {
    const drafts = Array.from({ length: 60 }, (_, n) => ({ ...makeDraft(n), siteId: 'a' }))
    const { sqlite, postgres, readers, errors } = await openBoth()
    await send(sqlite, drafts)
    const expected = await readSite(sqlite, readers.sqlite)

    const entries = drafts.map(({ beacon, ...draft }, at) => {
      const newer = { ...beacon, route: '/x', metrics: { ...beacon.metrics, soft: 12 } }
      return { ...draft, id: at + 1, beacon: newer }
    })
    await addGroup(pool, 'dead', entries)
    await replayJournal(pool, 'dead')
    assert.deepEqual(await readSite(postgres, readers.postgres), expected)

    const other = openDb(':memory:')
    createRumStore(other).addEntries(entries)
    const restarted = openRumWriter(other, { now: () => NOON, onError: assert.ifError })
    assert.deepEqual(await readSite(restarted, createRumReader(other)), expected)
    await restarted[Symbol.asyncDispose]()
    assert.deepEqual(errors, [])
  })

  it('has the same bounds for pages and kinds of errors', async () => {
    const { sqlite, postgres, readers } = await openBoth()
    const drafts = Array.from({ length: 1_800 }, (_, n) => ({
      ...makeDraft(n, { pages: 800, kinds: 600 }),
      receivedAt: NOON + n,
    }))
    // In the last part, new pages come before known ones.
    const flood = Array.from({ length: 600 }, (_, n) => {
      const { beacon, ...draft } = makeDraft(n)
      const receivedAt = NOON + drafts.length + n
      return { ...draft, siteId: 'a', receivedAt, beacon: { ...beacon, path: `/new${n}` } }
    })
    const parts = [0, 450, 900, 1_350].map((at) => drafts.slice(at, at + 450))
    const again = drafts.slice(0, 100).map((draft) => ({ ...draft, receivedAt: NOON + 3_000 }))
    parts.push([...flood, ...again])
    for (const writer of [sqlite, postgres]) {
      for (const part of parts) {
        await send(writer, part)
        await writer.checkpointSite('a')
        await writer.checkpointSite('b')
      }
    }
    for (const siteId of ['a', 'b']) {
      const filter = { ...ALL, siteId }
      const found = await readSite(postgres, readers.postgres, filter)
      assert.deepEqual(found, await readSite(sqlite, readers.sqlite, filter))
    }
    const sql = `SELECT (SELECT count(DISTINCT (day, path)) FROM rum_pages WHERE site_id = 'a'),
      (SELECT count(*) FROM rum_error_samples WHERE site_id = 'a')`
    assert.deepEqual(await read(pool, sql), [[501, 201]])
  })

  it('has the same bound for what views are attributed to', async () => {
    const { db, sqlite, postgres, readers } = await openBoth()
    const drafts = Array.from({ length: 3_200 }, (_, n) => {
      const beacon = keepBeacon({
        metrics: { lcp: 3_000 },
        attribution: { lcp: `img.x${'y'.repeat(n % 60)}${'z'.repeat(n / 60)}` },
      })
      return { ...makeDraft(0), siteId: 'a', receivedAt: NOON, beacon }
    })
    for (const writer of [sqlite, postgres]) {
      for (const part of [drafts.slice(0, 1_500), drafts.slice(1_500), drafts.slice(0, 50)]) {
        await send(writer, part)
        await writer.checkpointSite('a')
      }
    }
    const found = await readSite(postgres, readers.postgres)
    assert.deepEqual(found, await readSite(sqlite, readers.sqlite))
    const sql = `SELECT count(*), sum(count) FROM rum_attribution WHERE site_id = 'a'`
    assert.deepEqual(await read(pool, sql), [[3_001, 3_250]])
    assert.deepEqual(db.$client.prepare(sql).raw().all(), [[3_001, 3_250]])
    const { lcp } = Object(found.overviews[0]).attribution
    assert.equal(lcp.count, 3_250)
  })

  it('keeps U+0000 and half characters in texts of errors, but not in countries', async () => {
    const { sqlite, postgres, readers } = await openBoth()
    const { beacon, ...draft } = makeDraft(1)
    const errors = [{ message: 'A\0B\ud800C', type: '\udfff' }]
    const odd = { ...draft, siteId: 'a', beacon: { ...beacon, errors } }
    await send(sqlite, [odd])
    await send(postgres, [odd])
    const found = await readSite(postgres, readers.postgres)
    assert.deepEqual(found, await readSite(sqlite, readers.sqlite))
    await send(postgres, [
      { ...odd, country: 'G\0' },
      { ...odd, country: 'G'.repeat(5_000) },
    ])
    const { overviews } = await readSite(postgres, readers.postgres, { ...ALL, country: '' })
    assert.equal(Object(overviews[0]).sampleCount, draft.country === '' ? 3 : 2)
  })
})
