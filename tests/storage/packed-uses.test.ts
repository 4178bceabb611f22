import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Uses } from '../../lib/db/uses.ts'
import { packUses, unpackUses } from '../../lib/storage/packed-uses.ts'
import { anyCharacter } from '../support/quick/any-character.ts'

const Id = fc.oneof(
  fc.constantFrom('', 'ada', 'user:ada', 'key_1'),
  fc.string({ unit: anyCharacter }),
)
const Time = fc.integer({ min: 0, max: 8.64e15 })
const Count = fc.nat()
const Bucket = fc.record({ spent: fc.double({ min: 0, max: 1e9, noNaN: true }), at: Time })
const Notice = fc.record({
  userId: Id,
  threshold: fc.constant('near_cap' as const),
  cap: Count,
  records: fc.constant([{ sql: 'SELECT ?', params: ['a', 1, null] }]),
})
const AllUses: fc.Arbitrary<Uses> = fc.record({
  buckets: fc.array(fc.record({ id: Id, bucket: Bucket })),
  users: fc.array(
    fc.record({
      ...{ userId: Id, periodStart: Time, requests: Count, overage: Count, bucket: Bucket },
      notices: fc.array(Notice, { maxLength: 2 }),
    }),
  ),
  keys: fc.array(fc.record({ keyId: Id, usedAt: Time })),
  operations: fc.array(
    fc.record({
      ...{ userId: Id, keyId: Id, day: Count, operation: Id },
      ...{ status: fc.integer({ min: 100, max: 599 }), requests: Count, lookUps: Count },
    }),
  ),
})

describe('packed uses', () => {
  it('are the same once they are copied to another thread and unpacked', () => {
    fc.assert(
      fc.property(AllUses, (uses) => {
        const unpacked = unpackUses(structuredClone(packUses(uses)))
        assert.equal(JSON.stringify(unpacked), JSON.stringify(uses))
      }),
    )
  })
})
