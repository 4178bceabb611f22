import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mapInSlices, runInSlices } from '../../lib/parts/time-slices.ts'
import { countTurns } from '../support/count-turns.ts'

describe('mapInSlices', () => {
  it('maps all values in order', async () => {
    const values = Array.from({ length: 1_000 }, (_, n) => n)
    assert.deepEqual(
      await mapInSlices(values, (value, at) => value * 2 + at),
      values.map((value) => value * 3),
    )
    assert.deepEqual(await mapInSlices([], () => 1), [])
  })

  it('lets other work run in between', async () => {
    using turns = countTurns()
    const spin = () => {
      const end = performance.now() + 0.2
      while (performance.now() < end);
    }
    await mapInSlices(
      Array.from({ length: 100 }, () => null),
      spin,
    )
    assert.ok(turns.count() >= 4, `${turns.count()} turns`)
  })
})

describe('runInSlices', () => {
  it('lets other work run between steps', async () => {
    using turns = countTurns()
    function* work(): Generator<void, string> {
      for (let n = 0; n < 50; n++) {
        const end = performance.now() + 0.5
        while (performance.now() < end);
        yield
      }
      return 'done'
    }
    assert.equal(await runInSlices(work()), 'done')
    assert.ok(turns.count() > 10, String(turns.count()))
  })
})
