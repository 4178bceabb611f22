import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { TextPieces } from '../../../lib/geo/answer/batch-forms.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'

const Texts = fc.array(fc.string({ unit: anyCharacter, maxLength: 8 }), { maxLength: 200 })

describe('text pieces', () => {
  it('hold all texts with what separates them, and the end', () => {
    fc.assert(
      fc.property(Texts, fc.string(), fc.string(), (texts, between, end) => {
        const pieces = new TextPieces(between)
        for (const text of texts) pieces.add(text)
        const bytes = Buffer.concat(pieces.end(end))
        assert.equal(bytes.toString(), Buffer.from(texts.join(between) + end).toString())
      }),
    )
  })

  it('are many for many texts', () => {
    const pieces = new TextPieces(',')
    for (let n = 0; n < 1_000; n++) pieces.add(`${n}`)
    assert.equal(pieces.end('').length, 20)
  })
})
