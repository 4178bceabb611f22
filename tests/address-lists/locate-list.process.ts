import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvParse, csvParseRows } from 'd3-dsv'
import { prepareLocate } from './run-locate.ts'

const { locate, locateOne } = prepareLocate()

const NO_ADDRESS = 'No IPv4 or IPv6 address'
const VISITORS = 'who;ip\r\n"Doe; Jo";1.1.1.1\r\n\r\n=1+1;none\r\nEve;[2A00:DB8::1]:443\r\n'
const LOG = '1.1.1.1 - "GET /, x"\nnothing\nfrom 9.9.9.9 to 2a00:db8::1\n'

describe('npm run locate -- --keep', () => {
  it('keeps every row of a CSV, and puts the result after it', async () => {
    const { code, stdout, stderr } = await locate(VISITORS, ['--keep'])
    assert.equal(code, 0, stderr)
    const [header, jo, empty, bad, eve] = stdout.split('\r\n')
    assert.match(header ?? '', /^who;ip;geo_ip;version;precision;continent;.*;error$/)
    assert.match(jo ?? '', /^"Doe; Jo";1\.1\.1\.1;1\.1\.1\.1;4;city;EU;DE;Germany;.*;Köln;/)
    assert.equal(empty, '')
    assert.match(bad ?? '', /^=1\+1;none;;+No IPv4 or IPv6 address$/)
    assert.match(eve ?? '', /^Eve;\[2A00:DB8::1\]:443;2a00:db8::1;6;city;/)
    assert.match(stderr, /Read as CSV with semicolons, with a header; addresses in “ip”/)
  })

  it('reads lines of a log, and writes each as a cell', async () => {
    const { stdout } = await locate(LOG, ['--keep', '--last'])
    const rows = csvParse(stdout).map(({ line, ip, city, error }) => [line, ip, city, error])
    assert.deepEqual(rows, [
      ['1.1.1.1 - "GET /, x"', '1.1.1.1', 'Köln', ''],
      ['nothing', '', '', NO_ADDRESS],
      ['from 9.9.9.9 to 2a00:db8::1', '2a00:db8::1', 'Six', ''],
    ])
  })

  it('adds to JSON lines, or writes them from CSV', async () => {
    const { stdout } = await locate('{"n": 1.0, "ip": "1.1.1.1"}\n{"n": 2}\n', ['--keep'])
    const [first = '', second = ''] = stdout.split('\n')
    assert.ok(first.startsWith('{"n": 1.0, "ip": "1.1.1.1","geo":{"query":'), first)
    assert.equal(JSON.parse(first).geo.location.city, 'Köln')
    assert.deepEqual(JSON.parse(second).geo, { error: { message: NO_ADDRESS } })
    const other = await locate('who,ip\nAda,1.1.1.1\n', ['--keep', '--json'])
    const { who, geo } = JSON.parse(other.stdout)
    assert.deepEqual([who, geo.query.value], ['Ada', '1.1.1.1'])
  })

  it('reads other encodings than UTF-8, and writes UTF-8', async () => {
    const windows = Buffer.from('ort,ip\nK\xf6ln,1.1.1.1\n', 'latin1')
    const utf16 = Buffer.from('\ufeffort\tip\nKöln\t1.1.1.1\n', 'utf16le')
    assert.match((await locate(windows, ['--keep'])).stdout, /\nKöln,1\.1\.1\.1,/)
    assert.match((await locate(utf16, ['--keep'])).stdout, /^\ufeffort\tip\t.*\nKöln\t1\.1\.1\.1\t/)
  })

  it('takes corrections', async () => {
    const list = 'from,to\n1.1.1.1,2a00:db8::1\n'
    const named = await locate(list, ['--keep', '--column', 'TO'])
    assert.equal(csvParse(named.stdout)[0]?.['ip'], '2a00:db8::1')
    const counted = await locate(list, ['--keep', '--column', '2'])
    assert.equal(counted.stdout, named.stdout)
    const lines = await locate(list, ['--keep', '--as', 'lines'])
    const first = csvParseRows(lines.stdout).map(([line]) => line)
    assert.deepEqual(first, ['line', ...list.trim().split('\n')])
    const wrong = await locate(list, ['--keep', '--column', 'x'])
    assert.equal(wrong.code, 1)
    assert.equal(wrong.stderr, 'The list has no column "x"; its columns: from, to\n')
  })

  it('keeps all rows of a long list', async () => {
    const lines = Array.from({ length: 200_000 }, (_, n) => `${n},"a\n${n}",1.1.${n % 7}.1`)
    const { stdout, stderr } = await locate(`${lines.join('\n')}\n`, ['--keep', '--summary'])
    const rows = csvParseRows(stdout)
    assert.equal(rows.length, 200_001)
    assert.deepEqual(rows.at(-1)?.slice(0, 4), ['199999', 'a\n199999', '1.1.2.1', '1.1.2.1'])
    assert.match(stderr, /\n200,000 rows, 7 different addresses, 0 rows without an address\n/)
  })

  it('ends quietly when the reader closes the pipe', async () => {
    const { code, stdout, stderr } = await locateOne('--keep', '--as', 'lines')
    assert.match(stdout, /^line,ip,version,[^\n]*\n$/)
    assert.deepEqual({ code, lines: stderr.split('\n').length }, { code: 0, lines: 2 }, stderr)
  })
})

describe('npm run locate -- --summary', () => {
  it('counts the rows as text for people', async () => {
    const { code, stdout } = await locate(LOG + LOG, ['--summary'])
    assert.equal(code, 0)
    assert.equal(
      stdout,
      `6 rows, 2 different addresses, 2 rows without an address

Countries
            2  50.0 %  Germany (DE)

Regions

Networks

Cities
            2  50.0 %  Köln, DE

Precision
            2  50.0 %  city
            0   0.0 %  region
            0   0.0 %  country
            0   0.0 %  continent
            2  50.0 %  none
`,
    )
  })

  it('counts them as JSON', async () => {
    const { stdout } = await locate(VISITORS, ['--summary', '--json'])
    const { addresses, countries } = JSON.parse(stdout)
    assert.deepEqual(addresses, { total: 3, distinct: 2, invalid: 1 })
    assert.deepEqual(countries, [{ code: 'DE', name: 'Germany', count: 2 }])
  })
})

describe('the options of npm run locate', () => {
  it('are described by --help', async () => {
    const { code, stdout } = await locate('', ['--help'])
    assert.equal(code, 0)
    const names = ['keep', 'summary', 'map', 'csv', 'json', 'as', 'column', 'anywhere', 'last']
    for (const name of names) assert.match(stdout, new RegExp(`--${name}\\b`))
  })

  it('are refused where they have no effect', async () => {
    for (const [args, reason] of [
      [['--last'], /^--last needs --keep, --summary or --map\n/],
      [['--csv', '--summary'], /^--csv needs --keep here\n/],
      [['--keep', '--as', 'xml'], /^--as "xml" is not a kind of list\n/],
      [['--keep', '--csv', '--json'], /^Choose --csv or --json\n/],
      [
        ['--include', 'network,hostname'],
        /^--include must be of network,privacy.*"hostname" is not/,
      ],
      [['--lang', 'xx'], /^--lang must be one of de, en, /],
      [['--key', 'x'], /^A key needs --url or MERIDIAN_URL\n/],
      [['--url', 'http://127.0.0.1'], /^A server needs MERIDIAN_KEY or --key\n/],
      [['--url', 'geo.example', '--key', 'x'], /^The URL must be an address such as /],
      [['a', 'b'], /^Name one file\n/],
    ] as const) {
      const { code, stdout, stderr } = await locate('1.1.1.1\n', args)
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' })
      assert.match(stderr, reason)
    }
  })
})
