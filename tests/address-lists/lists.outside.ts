import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { KINDS, type Kind, recognise } from '../../lib/address-lists/form.ts'
import { type Row, readList } from '../../lib/address-lists/read-list.ts'
import { createTableWriter } from '../../lib/address-lists/write-list.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'

const FILES = 1_000
const SEED = 20_261_125

/**
 * Reads pairs of lists and results with Python's csv and ipaddress. Answers what differs: every record
 * must keep its cells, and end with the address that ipaddress reads from the cell in its column.
 */
const COMPARE = `
import csv, io, ipaddress, json, re, sys
csv.field_size_limit(10**9)
def read(text, delimiter):
    return list(csv.reader(io.StringIO(text, newline=''), delimiter=delimiter))
def bare(cell):
    text = cell.strip()
    if match := re.fullmatch(r'\\[(.*)\\](:\\d+)?', text): return match[1]
    if match := re.fullmatch(r'([\\d.]+):\\d+', text): return match[1]
    return text
def address(cell):
    try: return ipaddress.ip_address(bare(cell))
    except ValueError: return None
differences, rows, located = [], 0, 0
for number, case in enumerate(json.load(sys.stdin)):
    before, after = read(case['list'], case['delimiter']), read(case['result'], case['delimiter'])
    if not case['hasHeader']: after = after[1:]
    if len(before) != len(after): differences.append([number, 'rows', len(before), len(after)])
    for at, (old, new) in enumerate(zip(before, after)):
        if new[:len(old)] != old: differences.append([number, at, old, new])
        if old == [] or (case['hasHeader'] and at == 0): continue
        rows += 1
        expected = address(old[case['column']]) if len(old) > case['column'] else None
        found = ipaddress.ip_address(new[-2]) if new[-2] else None
        located += found is not None
        if expected != found: differences.append([number, at, str(expected), str(found)])
        if (found is None) != (new[-1] != ''): differences.append([number, at, 'error', new[-1]])
json.dump({'differences': differences, 'rows': rows, 'located': located}, sys.stdout)
`

interface Case {
  readonly list: string
  readonly result: string
  readonly delimiter: string
  readonly hasHeader: boolean
  readonly column: number
}

const COLUMN = 1

const address = fc.oneof(
  { weight: 4, arbitrary: fc.ipV4() },
  { weight: 4, arbitrary: fc.ipV6() },
  fc.ipV4().map((ip) => `${ip}:443`),
  fc.ipV6().map((ip) => `[${ip}]:443`),
  fc.ipV6().map((ip) => `[${ip}]`),
  fc.constantFrom('', 'none', '1.2.3', '999.1.1.1', '12:30'),
)
const cell = fc.string({ unit: fc.constantFrom(...',;\t"\'\n\r =+-@aé1', '😀') })
const list = fc.record({
  kind: fc.constantFrom<Kind[]>('comma', 'semicolon', 'tab'),
  hasHeader: fc.boolean(),
  hasMark: fc.boolean(),
  lineBreak: fc.constantFrom('\n', '\r\n'),
  endsWithBreak: fc.boolean(),
  // An empty list of cells is an empty line.
  rows: fc.array(
    fc.oneof(
      { weight: 9, arbitrary: fc.tuple(cell, address, cell).map((cells) => [...cells]) },
      fc.constant<string[]>([]),
    ),
    { minLength: 1, maxLength: 30 },
  ),
  quoteAll: fc.boolean(),
})

type List = typeof list extends fc.Arbitrary<infer Value> ? Value : never

/** Writes the list as Python and spreadsheets do. */
function toText({ kind, hasHeader, lineBreak, endsWithBreak, rows, quoteAll }: List): string {
  const delimiter = KINDS[kind] ?? ''
  const header = hasHeader ? [['who', 'ip', 'note']] : []
  const lines = [...header, ...rows].map((cells) =>
    cells
      .map((text) => (quoteAll || /[,;\t"\n\r]/.test(text) ? quoted(text) : text))
      .join(delimiter),
  )
  return lines.join(lineBreak) + (endsWithBreak ? lineBreak : '')
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

async function toCase(value: List): Promise<Case> {
  const { kind, hasHeader, hasMark } = value
  const list = toText(value)
  const form = recognise(list, { kind, hasHeader, column: COLUMN })
  const delimiter = KINDS[kind] ?? ''
  const writer = createTableWriter(form, delimiter, ['address', 'error'])
  const lines = [writer.header()]
  for await (const rows of readList(cut(hasMark ? `\ufeff${list}` : list), form)) {
    lines.push(...rows.map((row) => writer.line(row, addedTo(row) ?? writer.names)))
  }
  return { list, result: lines.join(''), delimiter, hasHeader, column: COLUMN }

  function addedTo({ kind: rowKind, address: text }: Row): string | undefined {
    if (rowKind !== 'row') return undefined
    const found = parseAddress(text ?? '')?.text
    return writer.toCells([found, found === undefined ? 'none' : undefined])
  }
}

function cut(text: string): string[] {
  return text.match(/[\s\S]{1,7}/g) ?? []
}

describe('lists of addresses', () => {
  it('keep every row and cell as Python reads them, with the addresses that it reads', async (t) => {
    const lists = fc.sample(list, { numRuns: FILES, seed: SEED })
    const cases = await Promise.all(lists.map(toCase))
    const { stdout, stderr } = spawnSync('python3', ['-c', COMPARE], {
      input: JSON.stringify(cases),
      encoding: 'utf8',
      maxBuffer: 1e8,
    })
    assert.equal(stderr, '')
    const { differences, rows, located } = JSON.parse(stdout)
    t.diagnostic(`${rows} rows in ${cases.length} lists, ${located} with an address`)
    assert.deepEqual(differences.slice(0, 5), [])
    assert.ok(located > 4_000 && rows - located > 300)
  })
})
