import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ACKNOWLEDGE, createBarrier } from '../../lib/postgres/nodes/barrier.ts'
import { shareRuns } from '../../lib/postgres/nodes/share-runs.ts'
import { EMPTY_ALL, openMigratedPglite } from '../support/database/pglite.ts'
import { closedAfterTest, shared } from '../support/scene/freshly.ts'

const pool = shared(openMigratedPglite)
const closed = closedAfterTest()
const run = (sql: string, params: readonly unknown[] = []) =>
  pool.use((connection) => connection.query(sql, params))

/** The nodes `own`, `other` and `dead` know the first of two changes, and `new` has not loaded its keys. */
beforeEach(async () => {
  await run(EMPTY_ALL)
  await run(`INSERT INTO access_changes (user_id, revision) VALUES ('ada', 1), ('bob', 2)`)
  await run(`INSERT INTO nodes (id, version, started_at, seen_at, died_at, revision)
    VALUES ('own', '', 0, 0, NULL, 1), ('other', '', 0, 0, NULL, 1), ('dead', '', 0, 0, 1, 1),
      ('new', '', 0, 0, NULL, -1)`)
})

/** Longer than a test takes. */
const NEVER_MS = 1_000_000

/** Waits for the other nodes, by default only for their notices. `isOver` returns whether that has ended. */
async function wait({ isDeaf = false, longestMs = NEVER_MS, stepMs = NEVER_MS } = {}) {
  const { channels, waitForOthers } = createBarrier(pool, () => 'own', { longestMs, stepMs })
  if (!isDeaf) closed(await pool.listen(channels))
  let over = false
  const waiting = waitForOthers().finally(() => {
    over = true
  })
  // Runs after the nodes are read.
  await run('SELECT')
  return { waiting, isOver: () => over }
}

describe('the wait for other nodes', () => {
  it('ends once the live ones that know keys have acknowledged the newest change', async () => {
    const { waiting, isOver } = await wait()
    assert.equal(isOver(), false)
    await run(ACKNOWLEDGE, ['other', 2])
    assert.equal(await waiting, 2)
  })

  it('ends although the notice of an acknowledgement is lost', async () => {
    const { waiting, isOver } = await wait({ isDeaf: true, stepMs: 10 })
    assert.equal(isOver(), false)
    await run(ACKNOWLEDGE, ['other', 2])
    assert.equal(await waiting, 2)
  })

  it('does not mistake an older acknowledgement for the newest one', async () => {
    await run(`UPDATE nodes SET revision = 0 WHERE id = 'other'`)
    const { waiting, isOver } = await wait()
    await run(ACKNOWLEDGE, ['other', 1])
    await run('SELECT')
    assert.equal(isOver(), false)
    await run(ACKNOWLEDGE, ['other', 2])
    assert.equal(await waiting, 2)
  })

  it('ends once a node is marked dead', async () => {
    const { waiting } = await wait({ stepMs: 10 })
    await run(`UPDATE nodes SET died_at = 1 WHERE id = 'other'`)
    assert.equal(await waiting, 2)
  })

  it('gives up a node that does not answer', async () => {
    const { waiting } = await wait({ longestMs: 20 })
    assert.equal(await waiting, 2)
  })
})

/** Runs that end when the test says so. */
function open() {
  const ends: (() => void)[] = []
  let running = 0
  let most = 0
  const runs = shareRuns(async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise<void>((resolve) => ends.push(resolve))
    running -= 1
  })
  const endAll = async () => {
    for (let n = 0; n < 10; n++) {
      for (const end of ends.splice(0)) end()
      await nextTurn()
    }
  }
  return { runs, ends, endAll, most: () => most }
}

describe('shared runs', () => {
  it('serve all calls during a run by the next one', async () => {
    let count = 0
    const { run } = shareRuns(async () => {
      count += 1
      await nextTurn()
      return count
    })
    assert.deepEqual(await Promise.all([run(), run(), run()]), [1, 2, 2])
  })

  it('never overlap, whoever asks first once a run has ended', async () => {
    const { runs, endAll, most } = open()
    const all = [runs.run(), runs.until(() => false), runs.run(), runs.until(() => false)]
    await endAll()
    await Promise.all(all)
    assert.equal(most(), 1)
  })

  it('go on after one has failed', async () => {
    let isAway = true
    const { run } = shareRuns(async () => {
      await nextTurn()
      if (isAway) throw new Error('away')
      return 'done'
    })
    const [first, second] = [run(), run()]
    await assert.rejects(first, /away/)
    isAway = false
    assert.equal(await second, 'done')
  })
})
