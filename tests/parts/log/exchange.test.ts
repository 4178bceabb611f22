import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { mintKey } from '../../../lib/access/api-key.ts'
import { beginningOf, parseTraceparent } from '../../../routes/request/exchange.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const GOOD = { traceId: TRACE, parentId: PARENT }

const hex = (length: number) => {
  const digit = fc.constantFrom(...'0123456789abcdef')
  return fc.string({ unit: digit, minLength: length, maxLength: length })
}

describe('parseTraceparent', () => {
  it('parses valid headers', () => {
    assert.deepEqual(parseTraceparent(`00-${TRACE}-${PARENT}-01`), GOOD)
    assert.deepEqual(parseTraceparent(`00-${TRACE}-${PARENT}-00`), GOOD)
  })

  it('parses the known part of later versions', () => {
    assert.deepEqual(parseTraceparent(`01-${TRACE}-${PARENT}-01`), GOOD)
    assert.deepEqual(parseTraceparent(`cc-${TRACE}-${PARENT}-01-more`), GOOD)
  })

  it('returns null for invalid headers', () => {
    const both = `${TRACE}-${PARENT}`
    for (const text of [
      ...['', 'x', `ff-${both}-01`, `00-${both}-01-more`, `00-${both}-01 `, `00-${both}-1`],
      ...[`00-${both}`, `01-${both}-01more`, `00-${TRACE.toUpperCase()}-${PARENT}-01`],
      ...[`00-${'0'.repeat(32)}-${PARENT}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`],
      ...[`00-${both}-01, 00-${both}-01`, `00-${TRACE}"-${PARENT}-01`],
    ]) {
      assert.equal(parseTraceparent(text), null, text)
    }
  })

  it('returns the ids of any valid header', () => {
    fc.assert(
      fc.property(hex(32), hex(16), hex(2), (traceId, parentId, flags) => {
        fc.pre(/[^0]/.test(traceId) && /[^0]/.test(parentId))
        const read = parseTraceparent(`00-${traceId}-${parentId}-${flags}`)
        assert.deepEqual(read, { traceId, parentId })
      }),
    )
  })

  it('returns hexadecimal digits or null for any text', () => {
    const known = fc.constantFrom('00', TRACE, PARENT, '01')
    const parts = fc.oneof(fc.string({ unit: anyCharacter }), known)
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 5 }), (all) => {
        const read = parseTraceparent(all.join('-'))
        if (read !== null) assert.match(`${read.traceId}-${read.parentId}`, /^\w{32}-\w{16}$/)
      }),
    )
  })
})

describe('beginningOf', () => {
  it('shows the first two segments of a path', () => {
    for (const path of ['/', '/v2', '/wp-admin/setup.php', '/v1/']) {
      assert.equal(beginningOf(path), path)
    }
    assert.equal(beginningOf('/v1/nothing/secret/more'), '/v1/nothing/…')
    assert.equal(beginningOf('//v1/x'), '//v1/…')
  })

  it('shows no more of a key than its prefix, and no address', () => {
    const { text, prefix } = mintKey('secret')
    assert.equal(beginningOf(`/${text}/x`), `/${prefix}…/x`)
    assert.equal(beginningOf('/81.2.69.160/json'), '/{address}/json')
    assert.equal(beginningOf('/v1/2001:db8::1'), '/v1/{address}')
    assert.equal(beginningOf('/ip=81.2.69.160'), '/ip={address}')
  })
})
