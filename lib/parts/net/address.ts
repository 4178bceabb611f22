import { isIP } from 'node:net'

export interface Ipv4 {
  readonly version: 4
  readonly text: string
  /**
   * The 32 bits as a signed integer. V8 stores large unsigned values differently from small ones,
   * which would change the shape of the objects and deoptimize the code that uses them.
   */
  readonly bits: number
}

export interface Ipv6 {
  readonly version: 6
  /** Canonical text: RFC 5952, lower case. */
  readonly text: string
  /** The 128 bits as four unsigned 32-bit integers, highest first. */
  readonly words: Words
}

export type Address = Ipv4 | Ipv6
export type Words = readonly [number, number, number, number]

/** Parses an address; null for any other text. Zone ids (`fe80::1%eth0`) are refused. */
export function parseAddress(text: string): Address | null {
  const bits = ipv4Bits(text)
  if (bits >= 0) return { version: 4, text, bits: bits | 0 }
  if (isIP(text) !== 6 || text.includes('%')) return null
  const words = ipv6Words(text)
  return { version: 6, text: formatIpv6(words), words }
}

/** `bits` may be signed or unsigned. */
export function ipv4FromBits(bits: number): Ipv4 {
  return { version: 4, text: formatIpv4(bits), bits: bits | 0 }
}

/** Converts an IPv4-mapped address (`::ffff:a.b.c.d`) to IPv4; returns others unchanged. */
export function unmapped(address: Address): Address {
  if (address.version === 4 || !isMapped(address.words)) return address
  return ipv4FromBits(address.words[3])
}

/** ::ffff:0:0/96, RFC 4291 section 2.5.5.2 */
export function isMapped([a, b, c]: Words): boolean {
  return a === 0 && b === 0 && c === 0xffff
}

/** Whether it is 0.0.0.0 or ::, which stand for no address: RFC 1122 3.2.1.3, RFC 4291 2.5.2. */
export function isUnspecified(address: Address): boolean {
  return address.version === 4 ? address.bits === 0 : address.words.every((word) => word === 0)
}

/** Reads dotted IPv4, four numbers without leading zeros, as an unsigned integer; else -1. */
function ipv4Bits(text: string): number {
  let bits = 0
  let start = 0
  for (let octet = 1; octet <= 4; octet++) {
    const end = octet === 4 ? text.length : text.indexOf('.', start)
    const value = octetOf(text, start, end)
    if (value < 0) return -1
    bits = bits * 256 + value
    start = end + 1
  }
  return bits
}

const ZERO = '0'.charCodeAt(0)

/** Reads a number from 0 to 255 between `start` and `end`; else -1. */
function octetOf(text: string, start: number, end: number): number {
  const digits = end - start
  if (digits < 1 || digits > 3) return -1
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  const leadingZero = digits > 1 && text.charCodeAt(start) === ZERO
  return value > 255 || leadingZero ? -1 : value
}

/** How many leading bits two addresses have in common, up to 128. */
export function commonBits(a: Words, b: Words): number {
  const at = a.findIndex((word, n) => word !== b[n])
  return at < 0 ? 128 : at * 32 + Math.clz32((a[at] ?? 0) ^ (b[at] ?? 0))
}

/** Expects a valid address. Reads the groups left and right of `::` and fills the gap with zeros. */
function ipv6Words(text: string): Words {
  const [left = '', right] = dottedToHex(text).split('::')
  const head = groupsOf(left)
  const tail = right === undefined ? [] : groupsOf(right)
  const gap = Array<number>(8 - head.length - tail.length).fill(0)
  const groups = [...head, ...gap, ...tail]
  const word = (at: number) => (groups[at] ?? 0) * 0x10000 + (groups[at + 1] ?? 0)
  return [word(0), word(2), word(4), word(6)]
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

/** Converts `::ffff:1.2.3.4` to `::ffff:102:304`. */
function dottedToHex(text: string): string {
  const start = text.lastIndexOf(':') + 1
  if (!text.includes('.', start)) return text
  const bits = ipv4Bits(text.slice(start))
  return `${text.slice(0, start)}${(bits >>> 16).toString(16)}:${(bits & 0xffff).toString(16)}`
}

export function formatIpv4(bits: number): string {
  return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`
}

/** RFC 5952: lower case, no leading zeros, the first longest run of two or more zeros as `::`. */
export function formatIpv6(words: Words): string {
  if (isMapped(words)) return `::ffff:${formatIpv4(words[3])}`
  const groups = words.flatMap((word) => [word >>> 16, word & 0xffff])
  const run = longestZeroRun(groups)
  const hex = groups.map((group) => group.toString(16))
  if (run.length < 2) return hex.join(':')
  return `${hex.slice(0, run.start).join(':')}::${hex.slice(run.start + run.length).join(':')}`
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  let start = 0
  for (const [at, group] of groups.entries()) {
    if (group !== 0) start = at + 1
    else if (at - start + 1 > best.length) best = { start, length: at - start + 1 }
  }
  return best
}

/** The /24 or /48 network of the address. Logs show it instead of the address, for privacy. */
export function truncated(address: Address): string {
  if (address.version === 4) return `${formatIpv4(address.bits & 0xffffff00)}/24`
  const [a, b] = address.words
  return `${formatIpv6([a, (b & 0xffff0000) >>> 0, 0, 0])}/48`
}

/** The /64 network of an IPv6 address: one subscriber usually has all the addresses in it. */
export function truncatedTo64({ words: [a, b] }: Ipv6): string {
  return `${formatIpv6([a, b, 0, 0])}/64`
}
