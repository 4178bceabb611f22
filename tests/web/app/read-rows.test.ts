import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseAddress } from '../../../lib/net/address.ts'
import { mayBeAddress, readRows } from '../../../web/app/batch/read-rows.ts'

function textsOf(text: string): string[] {
  return readRows(text).rows.map((row) => row.text)
}

describe('readRows', () => {
  it('numbers the lines and leaves out empty ones', () => {
    assert.deepEqual(readRows('81.2.69.160\r\n\r\n  2001:db8::1  \nnope 1\n').rows, [
      { row: 1, text: '81.2.69.160' },
      { row: 3, text: '2001:db8::1' },
      { row: 4, text: 'nope 1' },
    ])
    assert.deepEqual(readRows('').rows, [])
    assert.deepEqual(readRows(' \n\n').rows, [])
  })

  it('keeps a first line that is an invalid address, and leaves out a header', () => {
    assert.deepEqual(textsOf('1.2.3\n1.2.3.4'), ['1.2.3', '1.2.3.4'])
    assert.deepEqual(textsOf('visitor\n1.2.3.4'), ['1.2.3.4'])
    assert.deepEqual(textsOf('IPv4\n1.2.3.4'), ['1.2.3.4'])
  })

  it('returns the header of the column', () => {
    assert.equal(readRows('who, IP \nAda,1.2.3.4').header, 'IP')
    assert.equal(readRows('1.2.3.4').header, null)
    assert.equal(readRows('a,\nb,::1').header, null)
  })

  it('chooses the column by its header', () => {
    for (const header of ['ip', 'IP Address', 'client_ip', 'remote-ip', 'ipv6']) {
      const text = `gateway,${header}\n10.0.0.1,::1\n10.0.0.1,::2\n`
      assert.deepEqual(textsOf(text), ['::1', '::2'], header)
    }
  })

  it('chooses the first column with an address if no header names one', () => {
    const text = 'id,time,who,where\n1,12:30:00,"Doe, ""Jo""",\n2,12:31:00,Ada,1.2.3.4\n'
    assert.deepEqual(readRows(text).rows, [{ row: 3, text: '1.2.3.4' }])
  })

  it('reads quoted cells over several lines, and semicolons and tabs', () => {
    assert.deepEqual(readRows('note;ip\n"a;\nb";1.2.3.4\nc;::1').rows, [
      { row: 2, text: '1.2.3.4' },
      { row: 3, text: '::1' },
    ])
    assert.deepEqual(textsOf('a\t1.2.3.4\nb\t::1'), ['1.2.3.4', '::1'])
  })

  it('reads 100,000 rows', () => {
    const text = Array.from(
      { length: 100_000 },
      (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    )
    assert.deepEqual(textsOf(text.join('\n')), text)
  })

  it('never throws', () => {
    const unit = fc.constantFrom('"', ',', ';', '\n', '\r', '\t', '1', '.', ':', 'a', ' ')
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        for (const { text: cell } of readRows(text).rows) assert.equal(cell, cell.trim())
      }),
    )
  })
})

describe('mayBeAddress', () => {
  it('accepts every address', () => {
    const text = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF.:'), maxLength: 45 }),
    )
    fc.assert(
      fc.property(text, (written) => {
        if (parseAddress(written) !== null) assert.ok(mayBeAddress(written), written)
      }),
      { numRuns: 1_000 },
    )
  })

  it('rejects other common texts', () => {
    for (const text of ['', '12', '2024', '12:30:00', 'ada@example.com', 'face', '=1+1', '1.5']) {
      assert.ok(!mayBeAddress(text), text)
    }
    assert.ok(!mayBeAddress(`::${'1'.repeat(100)}`))
  })
})
