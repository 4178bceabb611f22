import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { findAddresses } from '../../lib/address-lists/find-addresses.ts'
import { parseAddress, unmapped } from '../../lib/parts/net/address.ts'
import { words } from '../support/words.ts'
import { NAMED_LINES, SQUID_WAYS } from './named-lines.ts'
import { LINES } from './program-lines.ts'

describe('findAddresses in lines of programs', () => {
  for (const [source, line, ...addresses] of [...LINES, ...NAMED_LINES]) {
    it(`${source}: ${line}`, () => assert.deepEqual(findAddresses(line), addresses))
  }

  for (const way of words(SQUID_WAYS)) {
    it(`Squid: ${way}`, () =>
      assert.deepEqual(findAddresses(`GET http://a.example/ - ${way}/93.184.1.2 -`), [
        '93.184.1.2',
      ]))
  }
})

/** The longest work that grows faster than the text: reading all of it again for every address. */
describe('findAddresses in a long line', () => {
  const units = [
    ['numbers like addresses with ports', '1.2.3.4.5 '],
    ['addresses with names of ports', '81.2.69.160.http '],
    ['IPv6 addresses that may have ports', '2001:db8::1:22 '],
    ['words that may touch an escape', 'x%a81.2.69.160 '],
    ['OpenVPN', '[AF_INET6]2001:db8::1:22 '],
    ['tcpdump', 'IP 10.0.0.1.443 > 10.0.0.2.5123: Flags '],
    ['products', 'foo/1.2.3.4 bar-1.2.3.4-1 version 1.2.3.4 '],
  ] as const
  for (const [name, unit] of units) {
    it(`reads twice as much of a line of twice the length: ${name}`, (t) => {
      const [short, long] = [
        charactersRead(t, unit.repeat(200)),
        charactersRead(t, unit.repeat(400)),
      ]
      assert.ok(long <= 2.1 * short, `${short} and ${long} characters`)
    })
  }
})

/** Counts the characters of the texts that regular expressions are tried on. */
function charactersRead(t: TestContext, text: string): number {
  let read = 0
  const { test } = RegExp.prototype
  const { replace } = String.prototype
  const counted = [
    t.mock.method(RegExp.prototype, 'test', function (this: RegExp, given: string) {
      // From where a sticky one starts, it reads only what it matches.
      read += this.sticky ? 1 : given.length
      return test.call(this, given)
    }),
    t.mock.method(
      String.prototype,
      'replace',
      function (this: string, ...given: Parameters<typeof replace>) {
        read += this.length
        return replace.apply(this, given)
      },
    ),
  ]
  findAddresses(text)
  for (const { mock } of counted) mock.restore()
  return read
}

const ipv4 = fc.ipV4()
/** Without those that end with what may be a port, and hashes. */
const ipv6 = fc.ipV6().filter((text) => !/^(?:[\da-f]{2}:){7}[\da-f]{2}$/i.test(text))
const port = fc.integer({ min: 0, max: 65_535 })
const longPort = fc.integer({ min: 10_000, max: 65_535 })
/** Five numbers are taken for an address and a port only if no version is like them. */
const noVersion = ipv4.filter((text) => /^(?![012]\.)\d+\..*\d{3}/.test(text))
const form = fc.oneof(
  fc.oneof(ipv4, ipv6).map((ip) => [ip, ip] as const),
  fc.tuple(ipv4, port).map(([ip, n]) => [ip, `${ip}:${n}`] as const),
  fc.tuple(noVersion, longPort).map(([ip, n]) => [ip, `${ip}.${n}`] as const),
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
