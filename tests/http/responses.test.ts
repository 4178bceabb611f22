import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { chooseForm } from '../../routes/request/negotiate.ts'
import { toResponse } from '../../routes/request/respond.ts'
import { countTurns } from '../support/count-turns.ts'

const FORMS = ['application/json', 'text/plain'] as const

describe('chooseForm', () => {
  const choices = [
    ['text/plain', 'text/plain'],
    ['TEXT/PLAIN; charset=utf-8', 'text/plain'],
    ['text/*', 'text/plain'],
    ['text/plain, application/json;q=0.9', 'text/plain'],
    ['application/json;q=0.1, */*', 'text/plain'],
    ['*/*;q=0.1, text/plain', 'text/plain'],
    ['application/json;q=0, text/plain;q=0.001', 'text/plain'],
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/plain, application/json', 'application/json'],
    ['text/plain;q=0.5, application/*', 'application/json'],
    ['text/*, text/plain;q=0, */*;q=0.1', 'application/json'],
    ['text/plain;q=0', 'application/json'],
    ['text/plain;q=2', 'application/json'],
    ['text/plain;q=x', 'application/json'],
    ['image/png', 'application/json'],
    [',;=,', 'application/json'],
  ] as const
  for (const [accept, form] of choices) {
    it(`is ${form} for ${accept}`, () => assert.equal(chooseForm(FORMS, accept), form))
  }

  it('is JSON for an operation without other forms', () => {
    assert.equal(chooseForm(['application/json'], 'text/plain'), 'application/json')
  })
})

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
    using turns = countTurns()
    let pieces = 0
    for await (const _ of body) pieces += 1
    assert.ok(pieces > 5)
    assert.ok(turns.count() >= pieces - 1)
  })
})
