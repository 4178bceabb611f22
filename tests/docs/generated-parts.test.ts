import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { GENERATED_PARTS, withPart } from '../../scripts/release/generated-parts.ts'

const root = new URL('../../', import.meta.url)

describe('the generated part', () => {
  for (const [path, makePart] of Object.entries(GENERATED_PARTS)) {
    it(`of ${path} is what npm run docs writes`, () => {
      const text = readFileSync(new URL(path, root), 'utf8')
      const isStale = withPart(text, makePart()) !== text
      assert.ok(!isStale, `The generated part of ${path} is stale: run npm run docs`)
    })
  }
})
