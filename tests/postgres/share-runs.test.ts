import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { shareRuns } from '../../lib/postgres/nodes/share-runs.ts'

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
