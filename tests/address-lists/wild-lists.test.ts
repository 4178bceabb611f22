import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeList } from '../../lib/address-lists/decode.ts'
import { type Corrections, recognise } from '../../lib/address-lists/form.ts'
import { readList } from '../../lib/address-lists/read-list.ts'
import { ownDelimiter, tableLines } from '../../lib/address-lists/write-list.ts'

async function read(text: string, corrections: Corrections = {}) {
  const form = recognise(text, corrections)
  const rows = []
  for await (const part of readList([text], form)) rows.push(...part)
  return {
    form,
    rows,
    addresses: rows.filter(({ kind }) => kind === 'row').map(({ address }) => address),
  }
}

const IIS = `#Software: Microsoft Internet Information Services 10.0
#Version: 1.0
#Date: 2026-11-28 12:00:00
#Fields: date time s-ip cs-method cs-uri-stem s-port c-ip cs(User-Agent) sc-status
2026-11-28 12:00:00 10.0.0.5 GET / 443 81.2.69.160 Mozilla/5.0+(X11) 200
2026-11-28 12:00:01 10.0.0.5 GET / 443 2001:db8::1 - 200
`

describe('lists with directives', () => {
  const lists = [
    ['IIS (W3C extended)', IIS, 'space', 'c-ip', ['81.2.69.160', '2001:db8::1']],
    [
      'IIS, started again with other fields',
      `${IIS}#Fields: c-ip s-ip\r\n8.8.8.8 10.0.0.5\r\n`,
      ...['space', 'c-ip', ['81.2.69.160', '2001:db8::1', '8.8.8.8']],
    ],
    [
      'Amazon CloudFront: names between spaces, cells between tabs',
      '#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method\n2026-11-28\t12:00:00\tFRA2\t5\t81.2.69.160\tGET\n',
      ...['tab', 'c-ip', ['81.2.69.160']],
    ],
    [
      'Microsoft Exchange, message tracking',
      '#Software: Microsoft Exchange Server\n#Fields: date-time,server-ip,client-ip,event-id\n2026-11-28T12:00:00Z,10.0.0.5,81.2.69.160,RECEIVE\n',
      ...['comma', 'client-ip', ['81.2.69.160']],
    ],
    [
      'Zeek',
      '#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\n#types\ttime\tstring\taddr\tport\taddr\n1.5\tC1\t81.2.69.160\t51234\t10.0.0.5\n#close\t2026\n',
      ...['tab', 'id.orig_h', ['81.2.69.160']],
    ],
    ['Excel, sep=;', 'sep=;\nwho;ip\nAda;81.2.69.160\n', 'semicolon', 'ip', ['81.2.69.160']],
    [
      'Excel, sep=, with a mark',
      '\ufeffSEP=,\r\nwho,ip\r\nAda,81.2.69.160\r\n',
      'comma',
      'ip',
      ['81.2.69.160'],
    ],
    ['Excel, sep=|', '"sep=|"\nwho|ip\nAda|81.2.69.160\n', 'pipe', 'ip', ['81.2.69.160']],
    ['Excel, sep=tab', 'sep=\t\nwho\tip\nAda\t81.2.69.160\n', 'tab', 'ip', ['81.2.69.160']],
  ] as const
  for (const [source, text, kind, name, expected] of lists) {
    it(`finds the client: ${source}`, async () => {
      const { form, addresses } = await read(text)
      assert.deepEqual({ kind: form.kind, name: form.columns[form.column ?? -1] }, { kind, name })
      assert.deepEqual(addresses, expected)
    })
  }

  it('takes any of the columns that #Fields names', async () => {
    const { form } = await read(IIS)
    const { addresses } = await read(IIS, { column: form.columns.indexOf('s-ip') })
    assert.deepEqual(addresses, ['10.0.0.5', '10.0.0.5'])
  })

  const corrected: readonly (readonly [
    string,
    string,
    number | null,
    ...(string | undefined)[],
  ])[] = [
    ['anywhere in the line', IIS, null, '10.0.0.5', '10.0.0.5'],
    [
      'anywhere, other fields later',
      `${IIS}#Fields: a c-ip\nx 8.8.8.8\n`,
      null,
      ...['10.0.0.5', '10.0.0.5', '8.8.8.8'],
    ],
    [
      'a column without a name',
      '#Fields: date time\n1 2 81.2.69.160\n#Fields: date time\n1 2 8.8.8.8\n',
      2,
      ...['81.2.69.160', '8.8.8.8'],
    ],
    ['one of two columns of a name', '#Fields: ip x ip\n10.0.0.5 2 8.8.8.8\n', 2, '8.8.8.8'],
    [
      'a column that is no longer logged',
      '#Fields: date c-ip\n1 8.8.8.8\n#Fields: date s-ip\n1 10.0.0.5\n',
      1,
      ...['8.8.8.8', undefined],
    ],
  ]
  for (const [name, text, column, ...expected] of corrected) {
    it(`takes the corrected column: ${name}`, async () => {
      assert.deepEqual((await read(text, { column })).addresses, expected)
    })
  }

  it('reads all lines if asked to read lines', async () => {
    const { addresses } = await read(IIS, { kind: 'lines' })
    assert.deepEqual(addresses.slice(3), [undefined, '10.0.0.5', '10.0.0.5'])
  })

  it('takes a comment in a list without directives for a row', async () => {
    assert.deepEqual((await read('#8.8.8.8\n8.8.4.4\n')).addresses, ['8.8.8.8', '8.8.4.4'])
  })

  const kept = [
    [
      IIS,
      'date,time,s-ip,cs-method,cs-uri-stem,s-port,c-ip,cs(User-Agent),sc-status,x\n2026-11-28,',
    ],
    ['sep=;\nwho;ip\nAda;81.2.69.160\n', 'sep=;\nwho;ip;x\nAda;81.2.69.160;y\n'],
    ['sep=|\nwho|ip\nAda|81.2.69.160\n', 'sep=|\nwho|ip|x\nAda|81.2.69.160|y\n'],
  ] as const
  for (const [text, expected] of kept) {
    it(`keeps the rows: ${text.slice(0, 12).trim()}`, async () => {
      const { form, rows } = await read(text)
      const columns = { names: ['x'], cellsOf: () => ['y'] }
      const { header, line } = tableLines(form, ownDelimiter(form), columns, () => ({}))
      const written = header + rows.map(line).join('')
      assert.equal(written.slice(0, expected.length), expected)
    })
  }
})

const CADDY =
  '{"level":"info","request":{"remote_ip":"10.0.0.9","client_ip":"81.2.69.160","headers":{"X-A":["8.8.8.8"]}}}\n'

describe('JSON lines with objects inside', () => {
  const fields = [
    ['Caddy', CADDY, 'request.client_ip', '81.2.69.160'],
    ['Caddy', CADDY, 'request.remote_ip', '10.0.0.9'],
    ['a list of texts', CADDY, 'request.headers.X-A', '8.8.8.8'],
    [
      'Google Cloud',
      '{"httpRequest":{"remoteIp":"81.2.69.160","serverIp":"10.0.0.1"}}\n',
      'httpRequest.remoteIp',
      '81.2.69.160',
    ],
    [
      'Kubernetes audit',
      '{"user":{"name":"x"},"sourceIPs":["81.2.69.160"]}\n',
      'sourceIPs',
      '81.2.69.160',
    ],
    [
      'a name with a dot',
      '{"source.ip":"81.2.69.160","source":{"ip":"10.0.0.1"}}\n',
      'source.ip',
      '81.2.69.160',
    ],
    ['names with dots inside', '{"a.b":{"c.d":"81.2.69.160"}}\n', 'a.b.c.d', '81.2.69.160'],
    [
      'a name like a property of all objects',
      '{"__proto__":{"ip":"81.2.69.160"}}\n',
      '__proto__.ip',
      '81.2.69.160',
    ],
  ] as const
  for (const [source, text, name, expected] of fields) {
    it(`finds ${name}: ${source}`, async () => {
      const column = recognise(text).columns.indexOf(name)
      assert.ok(column >= 0, String(recognise(text).columns))
      assert.deepEqual((await read(text, { column })).addresses, [expected])
    })
  }

  it('prefers the client to its proxy', async () => {
    assert.deepEqual((await read(CADDY)).addresses, ['81.2.69.160'])
    assert.deepEqual((await read('remote_ip,client_ip\n10.0.0.9,8.8.8.8\n')).addresses, ['8.8.8.8'])
  })
})

describe('decodeList', () => {
  const text = 'ip\n81.2.69.160\n'
  const utf16 = (marked: string) => Buffer.from(marked, 'utf16le')
  const encodings = [
    ['UTF-16 of PowerShell', utf16(`\ufeff${text}`)],
    ['UTF-16 without a mark', utf16(text)],
    ['UTF-16, big-endian', utf16(`\ufeff${text}`).swap16()],
    ['UTF-16, big-endian without a mark', utf16(text).swap16()],
    ['zeros of a log that was cut off', Buffer.from(`\0\0\0\0${text}`)],
  ] as const
  for (const [name, bytes] of encodings) {
    it(`reads ${name}`, async () => {
      let decoded = ''
      for await (const part of decodeList(one(bytes))) decoded += part
      assert.equal(decoded.replace(/^[\ufeff\0]+/, ''), text)
    })
  }
})

async function* one(bytes: Uint8Array) {
  yield bytes
}
