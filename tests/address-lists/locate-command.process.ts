import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvParse } from 'd3-dsv'
import { prepareLocate } from './run-locate.ts'

const MESSAGE = 'Not an IPv4 or IPv6 address'

const { locate, locateOne } = prepareLocate()

/** The city, the error or the precision of each line. */
function outcomesIn(stdout: string): string[] {
  const lines = stdout.split('\n').slice(0, -1)
  return lines.map((line) => {
    const { location, error, meta } = JSON.parse(line)
    return location?.city ?? error?.message ?? meta.precision
  })
}

describe('npm run locate', () => {
  it('answers each line in order, without a final newline and with CRLF', async () => {
    const { code, stdout, stderr } = await locate('1.1.1.1\r\n 9.9.9.9\t\n2A00:DB8::1\n2.2.2.2')
    assert.deepEqual(outcomesIn(stdout), ['Köln', 'none', 'Six', 'Two, "quoted"'])
    const { query } = JSON.parse(stdout.split('\n')[2] ?? '')
    assert.deepEqual(query, { type: 'ip', value: '2a00:db8::1', ipVersion: 6 })
    assert.match(stderr, /^4 lines, \d+ per second\n$/)
    assert.equal(code, 0)
  })

  it('answers an error in place of a line that is not an address', async () => {
    const broken = Buffer.from('\n\xff\xfe\n1.1.1.1\nnot "one"\n', 'latin1')
    const { code, stdout } = await locate(broken)
    assert.deepEqual(outcomesIn(stdout), [MESSAGE, MESSAGE, 'Köln', MESSAGE])
    assert.deepEqual(JSON.parse(stdout.split('\n')[3] ?? ''), {
      query: { type: 'ip', value: 'not "one"' },
      error: { code: 'BAD_REQUEST', message: MESSAGE },
    })
    assert.equal(code, 0)
  })

  it('shows only the start of a line of 10 MB', async () => {
    const { stdout } = await locate(`1.1.1.1\n${'x'.repeat(10_000_000)}\n2.2.2.2\n`)
    assert.deepEqual(outcomesIn(stdout), ['Köln', MESSAGE, 'Two, "quoted"'])
    assert.equal(JSON.parse(stdout.split('\n')[1] ?? '').query.value, 'x'.repeat(100))
  })

  it('writes nothing for empty input', async () => {
    const { code, stdout } = await locate('')
    assert.deepEqual({ code, stdout }, { code: 0, stdout: '' })
  })

  it('writes CSV with a header, and quotes cells where needed', async () => {
    const { stdout } = await locate('1.1.1.1\n2.2.2.2\na,"b"\n', ['--csv'])
    const [header = '', first = ''] = stdout.split('\n')
    assert.match(header, /^ip,version,precision,continent,country,.*,domain,error$/)
    assert.match(first, /^1\.1\.1\.1,4,city,EU,DE,Germany,,,,Köln,/)
    assert.match(stdout, /"Two, ""quoted"""/)
    const rows = csvParse(stdout).map(({ ip, city, error }) => [ip, city, error].join('|'))
    assert.deepEqual(rows, ['1.1.1.1|Köln|', '2.2.2.2|Two, "quoted"|', `a,"b"||${MESSAGE}`])
  })

  it('ends quietly when the reader closes the pipe', async () => {
    const { code, stdout, stderr } = await locateOne()
    assert.deepEqual(outcomesIn(stdout), ['Köln'])
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  })

  it('answers the addresses that it is given', async () => {
    const { code, stdout, stderr } = await locate('', ['1.1.1.1', '2A00:DB8::1'])
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.deepEqual(outcomesIn(stdout), ['Köln', 'Six'])
    assert.match((await locate('', ['--csv', '1.1.1.1'])).stdout, /\n1\.1\.1\.1,4,city,.*\n$/)
  })

  it('says in one line what it cannot read or reach', async () => {
    const missing = await locate('', ['missing.txt'])
    assert.deepEqual([missing.code, missing.stdout], [1, ''])
    assert.match(missing.stderr, /^Cannot read missing\.txt: ENOENT.*\n$/)
    const closed = await locate('1.1.1.1', ['--url', 'http://127.0.0.1:1', '--key', 'key'])
    assert.deepEqual([closed.code, closed.stdout], [1, ''])
    assert.match(closed.stderr, /^Cannot reach http:\/\/127\.0\.0\.1:1: .*\n$/)
  })

  it('names an unknown option', async () => {
    const { code, stdout, stderr } = await locate('', ['--xml'])
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' })
    assert.match(stderr, /Unknown option '--xml'[\s\S]*Usage:/)
  })
})
