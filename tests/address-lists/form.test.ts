import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { describeForm } from '../../lib/address-lists/describe-form.ts'
import { recognise } from '../../lib/address-lists/form.ts'

const LOG =
  '81.2.69.160 - - [25/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "Mozilla/5.0 (KHTML, like Gecko)"\n'

describe('recognise', () => {
  it('recognises each kind of list', () => {
    for (const [text, kind] of [
      ['81.2.69.160\n2001:db8::1\n', 'comma'],
      ['ip\n81.2.69.160', 'comma'],
      ['who,ip\nAda,81.2.69.160\n', 'comma'],
      ['who;ip\n"Doe; Jo";81.2.69.160\n', 'semicolon'],
      ['who\tip\nAda\t81.2.69.160\n', 'tab'],
      ['id,forwarded\n1,"81.2.69.160, 10.0.0.1"\n', 'comma'],
      ['id,peer\n1,[2001:db8::1]:443\n2,81.2.69.160:80\n', 'comma'],
      [LOG.repeat(3), 'lines'],
      ['nothing here\n', 'lines'],
      ['', 'lines'],
      ['{"ip":"81.2.69.160"}\n{"ip":"::1"}\n', 'json'],
      ['\ufeff{"ip":"81.2.69.160"}', 'json'],
    ] as const) {
      assert.equal(recognise(text).kind, kind, text)
    }
  })

  it('finds the column by its name, else by its addresses', () => {
    for (const name of ['ip', 'IP Address', 'client_ip', 'remote-ip', 'ipv6', 'ip_addr']) {
      const { column, columns } = recognise(`gateway,${name}\n10.0.0.1,::1\n10.0.0.1,::2\n`)
      assert.deepEqual({ column, columns }, { column: 1, columns: ['gateway', name] })
    }
    const { column, hasHeader } = recognise('1,12:30:00,"Doe, ""Jo""",\n2,12:31:00,Ada,1.2.3.4\n')
    assert.deepEqual({ column, hasHeader }, { column: 3, hasHeader: false })
    assert.equal(recognise('{"id":1,"at":{"x":1},"from":"81.2.69.160"}\n').column, 2)
    assert.equal(recognise('{"id":1,"at":{"ip":"81.2.69.160"}}\n').column, null)
  })

  it('knows a header from a row', () => {
    assert.equal(recognise('visitor\n1.2.3.4').hasHeader, true)
    assert.equal(recognise('IPv4\n1.2.3.4').hasHeader, true)
    assert.equal(recognise('1.2.3\n1.2.3.4').hasHeader, false)
    assert.equal(recognise('1.2.3.4\n1.2.3.5').hasHeader, false)
    assert.equal(recognise('\ufeff"ip","x"\n1.2.3.4,1').columns[0], 'ip')
  })

  it('numbers columns without a name', () => {
    assert.deepEqual(recognise('1.2.3.4,x\n').columns, ['column_1', 'column_2'])
    assert.deepEqual(recognise('ip,\n1.2.3.4,x\n').columns, ['ip', 'column_2'])
  })

  it('takes corrections', () => {
    const text = 'from,to\n1.2.3.4,5.6.7.8\n'
    const corrections = { kind: 'lines', take: 'last' } as const
    const form = { ...corrections, hasHeader: false, columns: [], column: null, lineBreak: '\n' }
    assert.deepEqual(recognise(text, corrections), form)
    assert.equal(recognise(text, { column: 1 }).column, 1)
    assert.equal(recognise(text, { column: null }).column, null)
    assert.equal(recognise(text, { column: 7 }).column, 0)
    assert.equal(recognise(text, { hasHeader: false }).hasHeader, false)
  })

  it('recognises a list of which only the beginning is known', () => {
    const lines = Array.from({ length: 5_000 }, (_, n) => `${n},"a\nb",10.0.0.${n % 256},x`)
    const { kind, column, columns } = recognise(lines.join('\r\n'))
    assert.deepEqual([kind, column, columns.length], ['comma', 2, 4])
  })

  it('never throws', () => {
    const unit = fc.constantFrom('"', ',', ';', '\n', '\r', '\t', '1', '.', ':', 'a', ' ', '{', '}')
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        assert.ok(describeForm(recognise(text)).length > 0)
      }),
    )
  })
})

describe('describeForm', () => {
  it('says how a list is read', () => {
    const csv = 'CSV with semicolons, with a header; addresses in “ip”, the first of several'
    assert.equal(describeForm(recognise('who;ip\nAda;1.2.3.4')), csv)
    const plain = recognise('81.2.69.160\n::1')
    assert.equal(describeForm(plain), 'One address per line')
    assert.equal(
      describeForm({ ...plain, take: 'last' }),
      'One address per line, the last of several',
    )
    assert.equal(describeForm(recognise('ip\n::1')), 'One address per line, with a header')
    const log = 'Lines of a log; addresses anywhere in the line, the last of several'
    assert.equal(describeForm(recognise(LOG, { take: 'last' })), log)
  })
})
