import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { BoundedCache } from '../../lib/parts/bounded-cache.ts'

describe('a bounded cache', () => {
  it('returns the last value that was set, or undefined', () => {
    const operation = fc.tuple(fc.nat(12), fc.option(fc.nat(9)))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(operation), (limit, operations) => {
        const cache = new BoundedCache<number, number>(limit)
        const all = new Map<number, number>()
        for (const [key, value] of operations) {
          if (value === null) {
            const got = cache.get(key)
            assert.ok(got === undefined || got === all.get(key))
          } else {
            cache.set(key, value)
            all.set(key, value)
            assert.equal(cache.get(key), value)
          }
        }
      }),
    )
  })

  it('holds at most its limit, and always the latest half of it', () => {
    for (const limit of [2, 10, 100]) {
      const cache = new BoundedCache<number, number>(limit)
      for (let key = 0; key < 1_000; key++) cache.set(key, key)
      // Reading moves entries, so each key is read once.
      const latest = Array.from({ length: limit / 2 }, (_, at) => 999 - at)
      for (const key of latest) assert.equal(cache.get(key), key)
      const held = Array.from({ length: 1_000 }, (_, key) => key).filter(
        (key) => cache.get(key) !== undefined,
      )
      assert.ok(held.length <= limit)
    }
  })

  it('keeps entries that are read repeatedly', () => {
    const cache = new BoundedCache<string, string>(10)
    cache.set('kept', 'yes')
    for (let n = 0; n < 1_000; n++) {
      cache.set(`other ${n}`, 'x')
      assert.equal(cache.get('kept'), 'yes')
    }
  })

  it('distinguishes a stored null from a missing entry', () => {
    const cache = new BoundedCache<string, null>(4)
    cache.set('a', null)
    assert.equal(cache.get('a'), null)
    assert.equal(cache.get('b'), undefined)
  })
})
