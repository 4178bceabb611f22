import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { toResponse } from '../../routes/request/respond.ts'

const answer = (json: string) => toResponse({ status: 200, headers: {}, json })

describe('a long answer', () => {
  it('arrives whole, wherever its pieces end', async () => {
    const AnyText = fc.array(fc.constantFrom('a', 'é', '語', '😀', '"'), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(AnyText, async (parts) => {
        const text = parts.join('').repeat(10_000)
        assert.equal(await answer(text).text(), text)
      }),
      { numRuns: 30 },
    )
  })

  it('is sent in pieces, in different turns of the event loop', async () => {
    const { body } = answer('語'.repeat(1_000_000))
    assert.ok(body)
    let turns = 0
    let next = setImmediate(function count() {
      turns += 1
      next = setImmediate(count)
    })
    let pieces = 0
    for await (const _ of body) pieces += 1
    clearImmediate(next)
    assert.ok(pieces > 5)
    assert.ok(turns >= pieces - 1)
  })
})
