import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DAY_MS } from '../../../lib/parts/durations.ts'
import { KEPT_DAYS } from '../../../lib/rum/hour.ts'
import { keepBeacon } from '../../../lib/rum/ingest/beacon.ts'
import { removeCounted, removeOld } from '../../../lib/rum/postgres/retention.ts'
import { openMigratedPglite } from '../../support/database/pglite.ts'
import { NOON } from '../../support/helpers.ts'
import { shared } from '../../support/scene/freshly.ts'
import { openNode, read, send } from './telemetry.ts'

const NAMES = ['hours', 'sketches', 'days', 'pages', 'errors', 'error_samples', 'counts']

describe('the retention of telemetry on PostgreSQL', () => {
  const pool = shared(async () => {
    const opened = await openMigratedPglite()
    await opened.use((connection) =>
      connection.runScript(`
        INSERT INTO users (id, email, plan, created_at) VALUES ('u', 'a@b.c', 'free', 1);
        INSERT INTO sites (id, user_id, name, created_at)
        VALUES ('kept', 'u', 'https://a.example', 1), ('other', 'u', 'https://b.example', 1)`),
    )
    return opened
  })

  /** Stores one beacon with all kinds of data for each day before NOON. */
  const fill = async (siteId: string, days: number) => {
    const { node, writer, errors } = await openNode(pool)
    const beacon = keepBeacon({ path: '/a', metrics: { lcp: 1 }, errors: [{ message: 'no' }] })
    const all = Array.from({ length: days }, (_, day) => {
      return { siteId, beacon, country: '', receivedAt: NOON - day * DAY_MS }
    })
    await send(writer, all)
    await writer[Symbol.asyncDispose]()
    assert.deepEqual(errors, [])
    return node
  }

  const countRows = async (siteId: string) => {
    const counts = NAMES.map(
      (name) => `(SELECT count(*) FROM rum_${name} WHERE site_id = '${siteId}')`,
    )
    return (await read(pool, `SELECT ${counts.join(', ')}`))[0]
  }

  it('removes rows older than the longest period of the summary, and rows of deleted sites', async () => {
    await fill('kept', 700)
    await fill('other', KEPT_DAYS)
    await fill('gone', 5_200)
    assert.deepEqual(await countRows('kept'), Array(7).fill(700))
    await removeOld(pool, NOON)
    assert.deepEqual(await countRows('kept'), Array(7).fill(KEPT_DAYS + 1))
    assert.deepEqual(await countRows('other'), Array(7).fill(KEPT_DAYS))
    assert.deepEqual(await countRows('gone'), Array(7).fill(0))
  })

  it('removes what deleted sites counted, and dead nodes without a journal', async () => {
    const [live, dead] = [await fill('kept', 1), await fill('kept', 1)]
    await fill('gone', 1)
    const killed = await openNode(pool)
    const beacon = keepBeacon({ metrics: { lcp: 1 } })
    await send(killed.writer, [{ siteId: 'kept', beacon, country: '', receivedAt: NOON }])
    await killed.writer.checkpointSite('kept')
    await removeCounted(pool, [live])
    const left = await read(pool, 'SELECT site_id, node FROM rum_counted ORDER BY node')
    const kept = [live, killed.node].sort().map((node) => ['kept', node])
    assert.deepEqual(left, kept)
    assert.ok(!left.flat().includes(dead))
  })
})
