import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { prepareLocate } from './run-locate.ts'

const { command, locate, path } = prepareLocate()

const valuesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => {
      const { query, error } = JSON.parse(line)
      return error === undefined ? query.value : error.message
    })

describe('npm run locate with a plain list', () => {
  const lists = [
    [
      'UTF-16, as the > of PowerShell writes',
      Buffer.from('\ufeff1.1.1.1\r\n2.2.2.2\r\n', 'utf16le'),
    ],
    ['line breaks of old Macs', '1.1.1.1\r2.2.2.2\r'],
    ['a zero-width space and quotes', '\u200b1.1.1.1\n"2.2.2.2",\n'],
    ['zeros at its start', '\0\0\0\0' + '1.1.1.1\n2.2.2.2\n'],
    ['ports', '1.1.1.1:443\n2.2.2.2.51234\n'],
  ] as const
  for (const [name, list] of lists) {
    it(`reads ${name}`, async () => {
      const { code, stdout, stderr } = await locate(list)
      assert.deepEqual(
        { code, values: valuesOf(stdout) },
        { code: 0, values: ['1.1.1.1', '2.2.2.2'] },
        stderr,
      )
    })
  }

  it('looks up the addresses of the command line in any form', async () => {
    const { stdout } = await locate('', ['1.1.1.1:53', '[2a00:db8::1]', '1.1.1.1,2.2.2.2'])
    assert.deepEqual(valuesOf(stdout), ['1.1.1.1', '2a00:db8::1', '1.1.1.1', '2.2.2.2'])
  })

  it('takes languages as the API does', async () => {
    for (const [tag, expected] of [
      ['zh-Hant', 0],
      ['EN_us', 0],
      ['nl', 2],
    ] as const) {
      assert.equal((await locate('1.1.1.1\n', ['--lang', tag])).code, expected, tag)
    }
  })

  it('answers networks and ranges by what their addresses have in common', async () => {
    const { stdout } = await locate('1.1.1.0/24\n1.1.1.1\n1.1.1.1 – 1.1.1.9\nx/24\n', ['--csv'])
    const rows = stdout.split('\n').map((row) => row.split(',').slice(0, 3).join())
    assert.deepEqual(rows, [
      'ip,version,precision',
      '1.1.1.0/24,4,city',
      '1.1.1.1,4,city',
      '1.1.1.1 - 1.1.1.9,4,city',
      'x/24,,',
      '',
    ])
  })

  it('writes the parts of a network on demand', async () => {
    const { stdout } = await locate('', ['--expand', '0.0.0.0/5', '1.1.1.1'])
    const values = valuesOf(stdout)
    assert.equal(values[0], '0.0.0.0/8')
    assert.equal(values.at(-1), '1.1.1.1')
    assert.ok(values.length > 3, values.join())
  })

  it('answers the networks of a table as such', async () => {
    const list = 'name,network\na,1.1.1.0/24\nb,1.1.1.1 - 1.1.1.9\nc,1.1.1.1\n'
    const kept = await locate(list, ['--keep'])
    const rows = kept.stdout.split('\n').slice(1, 4)
    assert.deepEqual(
      rows.map((row) => row.split(',').slice(2, 5).join()),
      ['1.1.1.0/24,4,city', '1.1.1.1 - 1.1.1.9,4,city', '1.1.1.1,4,city'],
    )
    const counted = await locate(list, ['--summary', '--json'])
    assert.deepEqual(JSON.parse(counted.stdout).addresses, { total: 3, distinct: 3, invalid: 0 })
    const { code, stderr } = await locate(list, ['--keep', '--expand'])
    assert.deepEqual(
      [code, stderr.split('\n')[0]],
      [2, '--expand is for lists of one entry per line'],
    )
  })

  it('says that a file is compressed', async () => {
    writeFileSync(path('list.gz'), gzipSync('1.1.1.1\n'))
    for (const name of ['locate', 'summarize', 'grepip']) {
      const { code, stderr } = await command(`address-lists/${name}`, [path('list.gz')])
      assert.notEqual(code, 0)
      assert.match(stderr, /list\.gz: it is compressed with gzip; unpack it first/)
    }
  })

  it('finds a nested field by its name, and a column of IIS', async () => {
    const caddy = '{"request":{"remote_ip":"9.9.9.9","client_ip":"1.1.1.1"}}\n'
    const nested = await locate(caddy, ['--keep', '--column', 'request.remote_ip'])
    assert.equal(JSON.parse(nested.stdout).geo.query.value, '9.9.9.9')
    const iis = '#Version: 1.0\n#Fields: s-ip c-ip\n10.0.0.5 1.1.1.1\n'
    const { stdout, stderr } = await locate(iis, ['--keep', '--column', 'c-ip'])
    assert.match(stdout, /^s-ip,c-ip,ip,.*\n10\.0\.0\.5,1\.1\.1\.1,1\.1\.1\.1,4,city,.*\n$/)
    assert.match(stderr, /Read as Cells between spaces, named by #Fields; addresses in “c-ip”/)
  })
})
