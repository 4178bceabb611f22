import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createBulk, toJsonLine } from '../../../lib/geo/bulk.ts'
import { CSV_HEADER, toCsvLine } from '../../../lib/geo/bulk-csv.ts'
import type { Located } from '../../../lib/geo/locate.ts'

const NOWHERE: Located = {
  place: undefined,
  confidence: undefined,
  timezone: undefined,
  network: undefined,
  placeSources: [],
  networkSources: [],
}
const locate = () => NOWHERE

/** What is answered to `chunks`, with an answer that shows the line as it came. */
function answersTo(chunks: readonly string[], answer = (line: string) => `${line.trim()}\n`) {
  const bulk = createBulk({ locate, answer, now: () => 0 })
  const answers = [...chunks.flatMap((chunk) => bulk.push(chunk)), bulk.end()]
  return { text: Buffer.concat(answers).toString(), lines: bulk.lines() }
}

function jsonAnswersTo(chunks: readonly string[]): string {
  return answersTo(chunks, (line) => toJsonLine(line, locate, 0)).text
}

describe('a bulk look-up', () => {
  it('answers the same however its text is cut into chunks', () => {
    const line = fc.stringMatching(/^[ \t]{0,3}[0-9a-z.é€:]{0,20}[ \r]{0,3}$/)
    fc.assert(
      fc.property(
        fc.array(line),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (all, cuts) => {
          const text = all.map((one) => `${one}\n`).join('')
          const chunks: string[] = []
          for (let at = 0; at < text.length; at += chunks.at(-1)?.length ?? 1) {
            chunks.push(text.slice(at, at + cuts.next().value))
          }
          const expected = all.map((one) => `${one.trim()}\n`).join('')
          assert.deepEqual(answersTo(chunks), { text: expected, lines: all.length })
        },
      ),
    )
  })

  it('answers a last line without a newline, but none where there is nothing', () => {
    assert.deepEqual(answersTo(['a\nb']), { text: 'a\nb\n', lines: 2 })
    assert.deepEqual(answersTo(['a\n']), { text: 'a\n', lines: 1 })
    assert.deepEqual(answersTo([]), { text: '', lines: 0 })
  })

  it('keeps only the start of a long line', () => {
    const { text, lines } = answersTo([...Array<string>(100).fill('x'.repeat(1_000)), '\nb\n'])
    assert.equal(lines, 2)
    assert.ok(text.length < 2_000)
  })

  it('takes an address for one whatever white space is around it', () => {
    const space = ' '.repeat(1_000)
    const expected = jsonAnswersTo(['1.2.3.4\n'])
    assert.match(expected, /"ipVersion":4/)
    assert.equal(jsonAnswersTo([space, space, '1.2.3.4', space, space, '\r\n']), expected)
  })

  it('never joins what white space parts', () => {
    const space = ' '.repeat(1_000)
    assert.match(jsonAnswersTo(['1.2.3', space, '.4\n']), /BAD_REQUEST/)
    assert.match(jsonAnswersTo(['1.2.3.4', space, space, 'x\n']), /BAD_REQUEST/)
    assert.match(jsonAnswersTo([space, space]), /"value":"".*BAD_REQUEST/)
  })

  it('writes text beyond one buffer of answers', () => {
    const text = 'é€😀\n'.repeat(10_000)
    assert.deepEqual(answersTo([text]), { text, lines: 10_000 })
  })
})

describe('an answer', () => {
  it('shows 100 characters of a line that is no address, and no half of one', () => {
    const line = `${'x'.repeat(99)}😀`
    const { query } = JSON.parse(toJsonLine(line, locate, 0))
    assert.equal(query.value, `${'x'.repeat(99)}\ufffd`)
  })

  it('has as many cells of CSV as the header', () => {
    const columns = CSV_HEADER.split(',').length
    assert.equal(toCsvLine('1.2.3.4', locate, 0).split(',').length, columns)
    assert.equal(toCsvLine('x', locate, 0).split(',').length, columns)
  })
})
