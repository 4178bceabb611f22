import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ListForm, recognise } from '../../lib/address-lists/form.ts'
import { type Row, readList } from '../../lib/address-lists/read-list.ts'
import { createTableWriter, csvDelimiter, toJsonLine } from '../../lib/address-lists/write-list.ts'

async function rowsOf(text: string, form: ListForm): Promise<Row[]> {
  const rows: Row[] = []
  for await (const part of readList([text], form)) rows.push(...part)
  return rows
}

/** The list with the column `city`; the value of each row is its address. */
async function withCity(text: string, delimiter?: string): Promise<string> {
  const form = recognise(text)
  const writer = createTableWriter(form, delimiter ?? csvDelimiter(form), ['ip', 'city'])
  const lines = (await rowsOf(text, form)).map((row) =>
    writer.line(row, row.kind === 'row' ? writer.toCells([row.address, '=1']) : writer.names),
  )
  return writer.header() + lines.join('')
}

describe('createTableWriter', () => {
  it('puts the results after the columns of the list, and keeps every line', async () => {
    const written = await withCity('who,addr\r\nAda,1.2.3.4\r\n\r\nEve,none\r\n')
    const rows = "Ada,1.2.3.4,1.2.3.4,'=1\r\n\r\nEve,none,,'=1\r\n"
    assert.equal(written, `who,addr,ip,city\r\n${rows}`)
  })

  it('names the columns of a list without a header', async () => {
    assert.equal(await withCity('1.2.3.4'), "column_1,ip,city\n1.2.3.4,1.2.3.4,'=1\n")
  })

  it('never names two columns alike', async () => {
    const written = await withCity('ip,CITY,geo_city\n1.2.3.4,a,b\n')
    assert.match(written, /^ip,CITY,geo_city,geo_ip,geo_geo_city\n/)
  })

  it('keeps the cells of the list as they are, formulas too', async () => {
    const written = await withCity('ip;note\n1.2.3.4;=1+1\n::1;"a;""b""\n c"\n')
    const rows = '1.2.3.4;=1+1;1.2.3.4;\'=1\n::1;"a;""b""\n c";::1;\'=1\n'
    assert.equal(written, `ip;note;geo_ip;city\n${rows}`)
  })

  it('fills up short rows, and keeps long ones', async () => {
    const short = await withCity('ip,a,b\n1.2.3.4,x,y\n1.2.3.4,x,y\n::1,x\n')
    assert.equal(short.split('\n')[3], "::1,x,,::1,'=1")
    assert.match(await withCity(`ip,a\n${'::1,x\n'.repeat(20)}::2,x,y\n`), /::2,x,y,::2,'=1\n$/)
  })

  it('writes a line of a log as one cell', async () => {
    const written = await withCity('from 1.2.3.4 "GET, x"\nnothing\n')
    const rows = '"from 1.2.3.4 ""GET, x""",1.2.3.4,\'=1\nnothing,,\'=1\n'
    assert.equal(written, `line,ip,city\n${rows}`)
  })

  it('writes TSV from CSV', async () => {
    const written = await withCity('a,"b,c",1.2.3.4\n', '\t')
    const header = 'column_1\tcolumn_2\tcolumn_3\tip\tcity'
    assert.equal(written, `${header}\na\tb,c\t1.2.3.4\t1.2.3.4\t'=1\n`)
  })
})

describe('toJsonLine', () => {
  async function jsonOf(text: string): Promise<string[]> {
    const form = recognise(text)
    const rows = (await rowsOf(text, form)).filter(({ kind }) => kind === 'row')
    return rows.map((row) => toJsonLine(row, '{"city":"X"}', form))
  }

  it('adds the result to a line of JSON as it is', async () => {
    assert.deepEqual(await jsonOf('{ "n": 1.0, "ip": "1.2.3.4" }\n{}\n{"geo":{"a":1}}\nbad\n'), [
      '{ "n": 1.0, "ip": "1.2.3.4","geo":{"city":"X"}}\n',
      '{"geo":{"city":"X"}}\n',
      '{"geo":{"a":1},"geo_geo":{"city":"X"}}\n',
      '{"line":"bad","geo":{"city":"X"}}\n',
    ])
  })

  it('names the cells of a row by their columns', async () => {
    const line = '{"2":"x","ip":"1.2.3.4","ip_3":"a\\"b","geo":{"city":"X"}}\n'
    assert.deepEqual(await jsonOf('2,ip,ip\nx,1.2.3.4,"a""b"\n'), [line])
  })
})

describe('readList', () => {
  it('says which rows have several addresses, and takes the one that is wanted', async () => {
    const text = 'a 1.2.3.4 b ::1\nc 1.2.3.4\n'
    const first = await rowsOf(text, recognise(text))
    const found = first.map(({ address, hasSeveral }) => `${address} ${hasSeveral}`)
    assert.deepEqual(found, ['1.2.3.4 true', '1.2.3.4 false'])
    const last = await rowsOf(text, recognise(text, { take: 'last' }))
    assert.equal(last[0]?.address, '::1')
  })

  it('reads the address of a JSON line from its field', async () => {
    const text = '{"proxy":"9.9.9.9","ip":"1.2.3.4"}\n{"proxy":"9.9.9.9"}\n{broken 9.9.9.8\n'
    const found = (await rowsOf(text, recognise(text))).map(({ address }) => address)
    assert.deepEqual(found, ['1.2.3.4', undefined, '9.9.9.8'])
  })
})
