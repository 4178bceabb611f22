import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { findAddresses } from '../../lib/address-lists/find-addresses.ts'
import { parseAddress, unmapped } from '../../lib/parts/net/address.ts'
import { LINES } from './program-lines.ts'

describe('findAddresses in lines of programs', () => {
  for (const [source, line, ...addresses] of LINES) {
    it(`${source}: ${line}`, () => assert.deepEqual(findAddresses(line), addresses))
  }
})

const ipv4 = fc.ipV4()
/** Without those that end with what may be a port, and hashes. */
const ipv6 = fc.ipV6().filter((text) => !/^(?:[\da-f]{2}:){7}[\da-f]{2}$/i.test(text))
const port = fc.integer({ min: 0, max: 65_535 })
const longPort = fc.integer({ min: 10_000, max: 65_535 })
const form = fc.oneof(
  fc.oneof(ipv4, ipv6).map((ip) => [ip, ip] as const),
  fc.tuple(ipv4, port).map(([ip, n]) => [ip, `${ip}:${n}`] as const),
  fc.tuple(ipv4, longPort).map(([ip, n]) => [ip, `${ip}.${n}`] as const),
  fc.tuple(ipv4, port).map(([ip, n]) => [ip, `client/${ip}:${n}`] as const),
  ipv4.map((ip) => [ip, `/ip4/${ip}/tcp/1`] as const),
  fc.tuple(ipv6, port).map(([ip, n]) => [ip, `[${ip}]:${n}`] as const),
  fc.tuple(ipv6, longPort).map(([ip, n]) => [ip, `${ip}:${n}`] as const),
  fc.tuple(ipv6, longPort).map(([ip, n]) => [ip, `${ip}.${n}`] as const),
  ipv6.map((ip) => [ip, `${ip}%eth0`] as const),
  ipv6.map((ip) => [ip, ip.replaceAll(':', '%3A')] as const),
  fc.oneof(ipv4, ipv6).map((ip) => [ip, `\u001b[31m${ip}\u001b[0m`] as const),
)
const left = fc.constantFrom(
  ...['', ' ', '"', "'", '(', '=', ',', 'src=', 'src-', 'srv_', 'ip%3D', '\\t', '->', '<'],
)
const right = fc.constantFrom(
  ...['', ' ', '"', "'", ')', ',', ';', ' - - [', '%26', '\\n', '->', '>', '|'],
)

describe('findAddresses in any text', () => {
  it('finds any address in any form between any neighbours', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(left, form, right), { minLength: 1, maxLength: 4 }), (all) => {
        const text = all.map(([left, [, written], right]) => left + written + right).join(' ')
        const canonical = (address: string) => {
          const parsed = parseAddress(address)
          return parsed === null ? address : unmapped(parsed).text
        }
        assert.deepEqual(
          findAddresses(text).map(canonical),
          all.map(([, [address]]) => canonical(address)),
          text,
        )
      }),
      { numRuns: 3_000 },
    )
  })

  it('never takes a version, a date, a time or a hash for one', () => {
    const number = fc.integer({ min: 0, max: 255 })
    const four = fc.tuple(number, number, number, number).map((numbers) => numbers.join('.'))
    const version = fc.integer({ min: 0, max: 150 }).map((n) => `${n}.0.0.0`)
    const hex = (size: number) =>
      fc.string({
        unit: fc.constantFrom(...'0123456789abcdef'),
        minLength: size,
        maxLength: size,
      })
    const fingerprint = fc
      .constantFrom(6, 9, 16, 20, 32)
      .chain((size) => fc.array(hex(2), { minLength: size, maxLength: size }))
    const date = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    const other = fc.oneof(
      version.map((text) => `Chrome/${text}`),
      four.map((text) => `v${text}`),
      four.map((text) => `Version=${text}`),
      four.map((text) => `${text}-beta`),
      four.map((text) => `lib-${text}.tar.gz`),
      four.map((text) => `lib_${text}_amd64.deb`),
      four.map((text) => `1.${text}.7`),
      date.map((day) => day.toISOString()),
      date.map((day) => day.toUTCString()),
      date.map(
        (day) =>
          `[${day.toISOString().slice(0, 10).replaceAll('-', ':')}:${day.toISOString().slice(11, 23)} +0000]`,
      ),
      fingerprint.map((octets) => octets.join(':')),
      hex(40),
      hex(64).map((text) => `sha256:${text}`),
    )
    fc.assert(
      fc.property(fc.array(other, { minLength: 1, maxLength: 4 }), (all) => {
        assert.deepEqual(findAddresses(all.join(' ')), [])
      }),
      { numRuns: 3_000 },
    )
  })
})
