import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createBulk, createJsonLines } from '../../../lib/geo/answer/bulk.ts'
import { CSV_HEADER, createCsvLines } from '../../../lib/geo/answer/bulk-csv.ts'
import type { Located } from '../../../lib/geo/answer/locate.ts'
import { toNetworkOwner } from '../../../lib/geo/place/network-owner.ts'
import { toPlace } from '../../../lib/geo/place/place.ts'

const NOWHERE: Located = {
  place: undefined,
  confidence: undefined,
  timezone: undefined,
  network: undefined,
  placeSources: [],
  networkSources: [],
}
const toJsonLine = createJsonLines(() => NOWHERE)
const toCsvLine = createCsvLines(() => NOWHERE)

/** The answers to `chunks`; by default, an answer repeats its line. */
function answersTo(chunks: readonly string[], answer = (line: string) => `${line.trim()}\n`) {
  const bulk = createBulk(answer, () => 0)
  const answers = [...chunks.flatMap((chunk) => bulk.push(chunk)), bulk.end()]
  return { text: Buffer.concat(answers).toString(), lines: bulk.lines() }
}

function jsonAnswersTo(chunks: readonly string[]): string {
  return answersTo(chunks, (line) => toJsonLine(line, 0)).text
}

describe('createBulk', () => {
  it('gives the same answers however the text is cut into chunks', () => {
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

  it('answers a last line without a newline, but not an empty one', () => {
    assert.deepEqual(answersTo(['a\nb']), { text: 'a\nb\n', lines: 2 })
    assert.deepEqual(answersTo(['a\n']), { text: 'a\n', lines: 1 })
    assert.deepEqual(answersTo([]), { text: '', lines: 0 })
  })

  it('keeps only the start of a long line', () => {
    const { text, lines } = answersTo([...Array<string>(100).fill('x'.repeat(1_000)), '\nb\n'])
    assert.equal(lines, 2)
    assert.ok(text.length < 2_000)
  })

  it('ignores white space around an address', () => {
    const space = ' '.repeat(1_000)
    const expected = jsonAnswersTo(['1.2.3.4\n'])
    assert.match(expected, /"ipVersion":4/)
    assert.equal(jsonAnswersTo([space, space, '1.2.3.4', space, space, '\r\n']), expected)
  })

  it('never joins the parts of a line around white space', () => {
    const space = ' '.repeat(1_000)
    assert.match(jsonAnswersTo(['1.2.3', space, '.4\n']), /BAD_REQUEST/)
    assert.match(jsonAnswersTo(['1.2.3.4', space, space, 'x\n']), /BAD_REQUEST/)
    assert.match(jsonAnswersTo([space, space]), /"value":"".*BAD_REQUEST/)
  })

  it('returns answers that need more than one buffer', () => {
    const text = 'é€😀\n'.repeat(10_000)
    assert.deepEqual(answersTo([text]), { text, lines: 10_000 })
  })
})

describe('the answer to a line', () => {
  it('shows 100 characters of a line that is not an address, never half a character', () => {
    const line = `${'x'.repeat(99)}😀`
    const { query } = JSON.parse(toJsonLine(line, 0))
    assert.equal(query.value, `${'x'.repeat(99)}\ufffd`)
  })

  it('has as many CSV cells as the header', () => {
    const columns = CSV_HEADER.split(',').length
    assert.equal(toCsvLine('1.2.3.4', 0).split(',').length, columns)
    assert.equal(toCsvLine('x', 0).split(',').length, columns)
  })

  it('escapes formulas in CSV, whether from a line or from a database', () => {
    const network = toNetworkOwner({ asn: 7, organization: '=1+1' })
    const [line, organization] = [
      toCsvLine('@SUM(1)', 0),
      createCsvLines(() => ({ ...NOWHERE, network }))('1.2.3.4', 0),
    ]
    assert.ok(line.startsWith("'@SUM(1),"), line)
    assert.match(organization, /,AS7,'=1\+1,/)
  })

  it('leaves numbers and offsets from UTC in CSV as they are', () => {
    const place = toPlace({
      country: { code: 'BR' },
      city: 'Acre',
      latitude: -9.97,
      longitude: -67.8,
    })
    const timezone = { name: 'America/Rio_Branco', source: 'maxmind' }
    const row = createCsvLines(() => ({ ...NOWHERE, place, timezone }))('1.2.3.4', 0)
    assert.match(row, /,-9\.97,-67\.8,,America\/Rio_Branco,-05:00,/)
  })
})
