import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import decoder from 'mmdb-lib/lib/decoder.js'
import { addValue, createDataSection } from '../../../lib/geo/mmdb/encode.ts'
import { Double, type MmdbValue, Uint16 } from '../../../lib/geo/mmdb/value.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'

describe('a value in the data section', () => {
  it('reads back unchanged', () => {
    fc.assert(
      fc.property(value(), ([record, expected]) => {
        assert.deepEqual(roundTrip(record), expected)
      }),
      { numRuns: 300 },
    )
  })

  const encodings: readonly [name: string, record: MmdbValue, hex: string][] = [
    ['an empty string', '', '40'],
    ['text', 'aé', '4361c3a9'],
    ['true', true, '0107'],
    ['false', false, '0007'],
    ['0', 0, 'c0'],
    ['-0', -0, 'c0'],
    ['255', 255, 'c1ff'],
    ['256', 256, 'c20100'],
    ['65536', 65536, 'c3010000'],
    ['2^32-1', 2 ** 32 - 1, 'c4ffffffff'],
    ['2^32', 2 ** 32, '6841f0000000000000'],
    ['-1', -1, '0401ffffffff'],
    ['-2^31', -(2 ** 31), '040180000000'],
    ['-2^31-1', -(2 ** 31) - 1, '68c1e0000000200000'],
    ['1.5', 1.5, '683ff8000000000000'],
    ['Double 0', new Double(0), '680000000000000000'],
    ['Double -0', new Double(-0), '688000000000000000'],
    ['Uint16 0', new Uint16(0), 'a0'],
    ['Uint16 65535', new Uint16(65535), 'a2ffff'],
    ['0n', 0n, '0002'],
    ['0xabcn', 0xabcn, '02020abc'],
    ['2^64-1 as a bigint', 2n ** 64n - 1n, `0802${'ff'.repeat(8)}`],
    ['2^64 as a bigint', 2n ** 64n, `090301${'00'.repeat(8)}`],
    ['2^128-1 as a bigint', 2n ** 128n - 1n, `1003${'ff'.repeat(16)}`],
    ['an empty map', {}, 'e0'],
    ['an empty array', [], '0004'],
    ['nested empty maps and an array', [{}, [], {}], '0304e00004e0'],
    ['equal values of different types', [5, new Uint16(5), 5n, '5'], '0404c105a1050102054135'],
    ['a repeated string', ['long', 'long'], '0204446c6f6e672002'],
    ['a string shorter than a pointer', ['', ''], '02044040'],
    ['a repeated map', [{ a: 'b' }, { a: 'b' }], '0204e1416141622002'],
    ['a repeated double', [1.5, new Double(1.5)], '0204683ff80000000000002002'],
  ]
  for (const [name, record, hex] of encodings) {
    it(`stores ${name} as ${hex}`, () => assert.equal(hexOf(record), hex))
  }

  it('keeps strings, arrays and maps of every length class', () => {
    for (const length of [28, 29, 284, 285, 65_820, 65_821]) {
      assert.equal(roundTrip('x'.repeat(length)), 'x'.repeat(length))
      assert.deepEqual(roundTrip(Array(length).fill(7)), Array(length).fill(7))
    }
    for (const length of [28, 29, 284, 285]) {
      const map = Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, at]))
      assert.deepEqual(roundTrip(map), map)
    }
  })

  it('is found through near and far pointers', () => {
    const cases = [
      [2047, 2],
      [2048, 3],
      [526_335, 3],
      [526_336, 4],
    ] as const
    for (const [offset, pointerSize] of cases) {
      const header = offset < 65_821 ? 5 : 6
      const record = ['-'.repeat(offset - header), 'shared', 'shared']
      assert.equal(encoded(record).length, offset + 'shared'.length + 1 + pointerSize)
      assert.deepEqual(roundTrip(record), record)
    }
  })

  it('is refused if the format has no type for it', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1n, 2n ** 128n]) {
      assert.throws(() => encoded({ deep: [value] }), RangeError)
    }
    assert.throws(() => encoded(JSON.parse('[null]')), /^TypeError: Cannot store null$/)
    assert.throws(() => encoded(Object({ a: undefined })), /^TypeError: .* type undefined$/)
    for (const value of [65536, -1, 0.5]) assert.throws(() => new Uint16(value), RangeError)
  })

  it('is refused if it is longer than the format allows', () => {
    const longest = 65_821 + 2 ** 24 - 1
    assert.equal(encoded('x'.repeat(longest)).length, longest + 4)
    assert.throws(() => encoded('x'.repeat(longest + 1)), /^RangeError: Cannot store/)
  })
})

describe('a data section', () => {
  it('stores equal values once', () => {
    const section = createDataSection('pointers')
    const inner = { name: 'inner' }
    const first = addValue(section, { inner, text: 'text' })
    assert.equal(addValue(section, { inner: { name: 'inner' }, text: 'text' }), first)
    const length = section.length
    const decode = (value: MmdbValue) => decoded(section.bytes, addValue(section, value))
    assert.deepEqual([decode(inner), decode('text')], [inner, 'text'])
    assert.equal(section.length, length)
  })

  it('distinguishes values that are stored differently', () => {
    const section = createDataSection('pointers')
    const values: readonly MmdbValue[] = [
      ...[5, new Uint16(5), 5n, new Double(5), '5', 'i5;', true, 'y', [], {}, [[]], [[], []]],
      ...[{ a: 5 }, { a: new Uint16(5) }, { a: 5n }, { a: '5' }, ['a', 5], [new Double(0)]],
      ...[['ab', 'c'], ['a', 'bc'], ['abc'], [1, 23], [12, 3], [[1], 2], [[1, 2]], [-0], ['']],
      ...[[new Double(-0)], { a: 1, b: 2 }, { b: 2, a: 1 }, { a: {}, b: 2 }, { a: { b: 2 } }],
    ]
    const offsets = values.map((value) => addValue(section, value))
    assert.equal(new Set(offsets).size, values.length)
  })

  it('repeats values if pointers are not allowed', () => {
    const section = createDataSection('no pointers')
    addValue(section, ['long', 'long'])
    assert.equal(section.length, 12)
  })
})

function encoded(value: MmdbValue): Uint8Array {
  const section = createDataSection('pointers')
  assert.equal(addValue(section, value), 0)
  return section.bytes.subarray(0, section.length)
}

function hexOf(value: MmdbValue): string {
  return Buffer.from(encoded(value)).toString('hex')
}

function decoded(bytes: Uint8Array, offset = 0): unknown {
  return new decoder.default(Buffer.from(bytes)).decode(offset).value
}

function roundTrip(value: MmdbValue): unknown {
  return decoded(encoded(value))
}

/** Values, and the values that a reader returns for them. */
function value(): fc.Arbitrary<[MmdbValue, unknown]> {
  const same = <T extends MmdbValue>(one: T): [MmdbValue, unknown] => [one, one]
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('a', 'name', 'other name'),
  )
  const name = text.filter((key) => key !== '__proto__')
  const leaf = fc.oneof(
    text.map(same),
    fc.boolean().map(same),
    fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map(same),
    fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 }).map(same),
    fc.maxSafeInteger().map(same),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => same(one === 0 ? 0 : one)),
    fc.double().map((one): [MmdbValue, unknown] => [new Double(one), one]),
    fc.nat(0xffff).map((one): [MmdbValue, unknown] => [new Uint16(one), one]),
  )
  const tree = fc.letrec<{ value: [MmdbValue, unknown] }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc
        .array(tie('value'))
        .map((items): [MmdbValue, unknown] => [
          items.map(([item]) => item),
          items.map(([, item]) => item),
        ]),
      fc
        .array(fc.tuple(name, tie('value')))
        .map((entries): [MmdbValue, unknown] => [
          Object.fromEntries(entries.map(([key, [item]]) => [key, item])),
          Object.fromEntries(entries.map(([key, [, item]]) => [key, item])),
        ]),
    ),
  }))
  return tree.value
}
