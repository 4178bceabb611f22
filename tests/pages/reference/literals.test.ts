import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  doubleQuoted,
  goQuoted,
  phpQuoted,
  shellQuoted,
} from '../../../pages/reference/samples/literal.ts'
import { ON_POSIX } from '../../support/runtime.ts'

/** Texts without U+0000, which no argument of a process can have. */
const TEXT = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '$', '`', '\n', '\r', '\t', '{', ' ', 'a', '!'),
  }),
)
const withoutNull = TEXT.filter((text) => !text.includes('\0'))
describe('a literal in a sample', () => {
  it('is the same text to a shell', ON_POSIX, () => {
    const given = fc.sample(withoutNull, { numRuns: 300, seed: 1 })
    const input = given.map((text) => `printf '%s\\000' ${shellQuoted(text)}\n`).join('')
    const printed = execFileSync('sh', ['-s'], { input, encoding: 'utf8' })
    assert.deepEqual(printed.split('\0').slice(0, -1), given)
  })

  it('is the same text to TypeScript', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        assert.equal(new Function(`return ${doubleQuoted(text)}`)(), text)
      }),
    )
  })

  it('is the same text to Go', () => {
    fc.assert(fc.property(TEXT, (text) => assert.equal(readGo(goQuoted(text)), text)))
  })

  it('is the same text to PHP', () => {
    fc.assert(fc.property(TEXT, (text) => assert.equal(readPhp(phpQuoted(text)), text)))
  })
})

/** The Go specification, "String literals": raw ones lose carriage returns and end at a backquote. */
function readGo(literal: string): string {
  if (!literal.startsWith('`')) {
    assert.doesNotMatch(literal.replaceAll(/\\[bfnrt"\\]|\\u[\da-f]{4}/g, ''), /\\/)
    return JSON.parse(literal)
  }
  const inner = literal.slice(1, -1)
  assert.ok(literal.endsWith('`') && !/[`\r\ufeff]/.test(inner))
  return inner
}

/** PHP's manual, "Single quoted": a backslash escapes only itself and the quote. */
function readPhp(literal: string): string {
  const [, inner = ''] = /^'((?:[^'\\]|\\[\s\S])*)'$/.exec(literal) ?? assert.fail(literal)
  return inner.replaceAll(/\\(['\\])/g, '$1')
}
