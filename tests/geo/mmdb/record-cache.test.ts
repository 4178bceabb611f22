import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { RecordCache } from '../../../lib/geo/mmdb/record-cache.ts'

describe('a record cache', () => {
  it('keeps a value that is offered twice in a row', () => {
    const cache = new RecordCache<string>(4)
    assert.equal(cache.get(7), undefined)
    cache.offer(7, 'seven')
    assert.equal(cache.get(7), undefined)
    cache.offer(7, 'seven')
    assert.equal(cache.get(7), 'seven')
  })

  it('never returns the value of another offset', () => {
    const offsetTo = (max: number) => fc.integer({ min: 1, max })
    const offsets = fc.array(fc.oneof(offsetTo(0xffff_ffff), offsetTo(9)))
    fc.assert(
      fc.property(fc.nat(3), offsets, (bits, asked) => {
        const cache = new RecordCache<string>(bits + 1)
        for (const one of asked) {
          const known = cache.get(one)
          assert.ok(known === undefined || known === String(one))
          if (known === undefined) cache.offer(one, String(one))
        }
      }),
    )
  })

  it('keeps most of 64 frequent values in 256 slots', () => {
    const cache = new RecordCache<number>(8)
    for (let round = 0; round < 3; round++) {
      for (let offset = 1; offset <= 64; offset++) {
        if (cache.get(offset) === undefined) cache.offer(offset, offset)
      }
    }
    const kept = Array.from({ length: 64 }, (_, at) => cache.get(at + 1)).filter(Number.isFinite)
    assert.ok(kept.length > 48, `${kept.length} of 64 kept`)
  })
})
