import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createAnswerJson, createLines } from '../../../lib/geo/answer/bulk.ts'
import { createCsvLines } from '../../../lib/geo/answer/bulk-csv.ts'
import type { Located } from '../../../lib/geo/answer/locate.ts'
import { toNetworkOwner } from '../../../lib/geo/place/network-owner.ts'
import { NO_OTHERS } from '../../../lib/geo/place/other-countries.ts'
import { toPlace } from '../../../lib/geo/place/place.ts'
import { NOWHERE } from '../fake-database.ts'

const answer = answering(NOWHERE)
const csv = createCsvLines({})

/** Answers as databases do that find the same about each address. */
function answering(located: Located, asked = {}) {
  const geo = {
    find: () => located,
    findPrivacy: () => undefined,
    findOthers: () => NO_OTHERS,
    names: () => [],
  }
  return createAnswerJson({ ...geo, prefix: () => '1.2.3.0/24' }, asked)
}

function linesIn(chunks: readonly string[]): string[] {
  const lines = createLines()
  return [...chunks.flatMap(lines.push), ...lines.end()]
}

function answersTo(chunks: readonly string[]): string {
  return linesIn(chunks)
    .map((line) => answer(line, 0))
    .join()
}

describe('createLines', () => {
  it('finds the same lines however the text is cut into chunks', () => {
    const line = fc.stringMatching(/^[ \t]{0,3}[0-9a-z.é€:]{0,20}[ \r]{0,3}$/)
    const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 9 }))
    fc.assert(
      fc.property(fc.array(line), sizes, (all, cuts) => {
        const text = all.map((one) => `${one}\n`).join('')
        const chunks: string[] = []
        for (let at = 0; at < text.length; at += chunks.at(-1)?.length ?? 1) {
          chunks.push(text.slice(at, at + cuts.next().value))
        }
        const lines = all.map((one) => one.trim())
        assert.deepEqual(linesIn(chunks), lines)
      }),
    )
  })

  it('finds a last line without a newline, but not an empty one', () => {
    assert.deepEqual(linesIn(['a\nb']), ['a', 'b'])
    assert.deepEqual(linesIn(['a\n']), ['a'])
    assert.deepEqual(linesIn([]), [])
  })

  it('keeps only the start of a long line', () => {
    const lines = linesIn([...Array<string>(100).fill('x'.repeat(1_000)), '\nb\n'])
    assert.equal(lines.length, 2)
    assert.ok(lines.join('').length < 2_000)
  })

  it('ends quickly on a line of many spaces', () => {
    for (const space of [' ', '\t', ' "', '\0']) {
      assert.match(answersTo([`8.8.8.8${space.repeat(200_000)}x\n`]), /BAD_REQUEST/)
    }
  })

  it('ignores white space around an address', () => {
    const space = ' '.repeat(1_000)
    const expected = answersTo(['1.2.3.4\n'])
    assert.match(expected, /"ipVersion":4/)
    assert.equal(answersTo([space, space, '1.2.3.4', space, space, '\r\n']), expected)
  })

  it('finds an address in a line of many spaces, however it is cut', () => {
    const isFound = (chunks: readonly string[]) => answersTo(chunks).includes('"ipVersion":4')
    for (const space of [' ', '\t', '\0', '\u200b', '"']) {
      for (const count of [1, 293, 300, 301, 1_000]) {
        const spaces = space.repeat(count)
        for (const cut of [1, 7, 300, count, count + 3, count + 6]) {
          const inTwo = (line: string) => [line.slice(0, cut), line.slice(cut), '\n']
          const about = `${JSON.stringify(space)} ${count} ${cut}`
          assert.equal(isFound(inTwo(`${spaces}1.2.3.4`)), true, about)
          assert.equal(isFound(inTwo(`1.2.3.4${spaces}`)), true, about)
          assert.equal(isFound(inTwo(`1.2.3.4${spaces}x`)), false, about)
        }
      }
    }
  })

  it('never joins the parts of a line around white space', () => {
    const space = ' '.repeat(1_000)
    assert.match(answersTo(['1.2.3', space, '.4\n']), /BAD_REQUEST/)
    assert.match(answersTo(['1.2.3.4', space, space, 'x\n']), /BAD_REQUEST/)
    assert.match(answersTo([space, space]), /"value":"".*BAD_REQUEST/)
  })
})

describe('the answer to a line', () => {
  it('shows 100 characters of a line that is not an address, never half a character', () => {
    const line = `${'x'.repeat(99)}😀`
    const { query } = JSON.parse(answer(line, 0))
    assert.equal(query.value, `${'x'.repeat(99)}\ufffd`)
  })

  it('has as many CSV cells as the header', () => {
    const columns = csv.header.split(',').length
    assert.equal(csv.line(answer('1.2.3.4', 0)).split(',').length, columns)
    assert.equal(csv.line(answer('x', 0)).split(',').length, columns)
  })

  it('escapes formulas in CSV, whether from a line or from a database', () => {
    const network = toNetworkOwner({ asn: 7, organization: '=1+1' })
    assert.match(csv.line(answer('@SUM(1)', 0)), /^'@SUM\(1\),/)
    assert.match(csv.line(answering({ ...NOWHERE, network })('1.2.3.4', 0)), /,AS7,'=1\+1,/)
  })

  it('leaves numbers and offsets from UTC in CSV as they are', () => {
    const coordinates = { latitude: -9.97, longitude: -67.8 }
    const place = toPlace({ country: { code: 'BR' }, city: 'Acre', ...coordinates })
    const timezone = { name: 'America/Rio_Branco', source: 'maxmind' }
    const row = csv.line(answering({ ...NOWHERE, place, timezone })('1.2.3.4', 0))
    assert.match(row, /,-9\.97,-67\.8,,America\/Rio_Branco,-05:00,/)
  })

  it('has what is asked for, in JSON and as further columns of CSV', () => {
    const asked = { include: ['network'] } as const
    const json = answering(NOWHERE, asked)('1.2.3.4', 0)
    assert.deepEqual(JSON.parse(json).network, { prefix: '1.2.3.0/24' })
    const { header, line } = createCsvLines(asked)
    assert.match(header, /,domain,prefix,error\n$/)
    assert.match(line(json), /,1\.2\.3\.0\/24,\n$/)
  })
})
