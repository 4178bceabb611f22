import { type Address, formatIpv6, ipv4FromBits, parseAddress } from './address.ts'
import { bareEntry } from './endpoint.ts'
import { networkText } from './network.ts'

/** Neighbouring addresses, as numbers. */
export interface Block {
  readonly version: Address['version']
  readonly first: bigint
  readonly last: bigint
}

/** `a/24`, `[a]/64`, and `a/255.255.255.0` as firewalls write it. */
const NETWORK = /^\[?([\da-f.:]+)\]?\/(\d{1,3}|(?:\d{1,3}\.){3}\d{1,3})$/i
/** `a - b`, also with a dash, and `1.2.3.4-9` for the last number. */
const RANGE = /^([\da-f.:]+)\s*[-–—]\s*([\da-f.:]+)$/i

/**
 * Reads a network (RFC 4632) or a range; null for any other text, also for a single address. Bits after the prefix do
 * not count, as in lists of firewalls.
 */
export function parseBlock(text: string): Block | null {
  const entry = bareEntry(text)
  const [, base = '', length = ''] = NETWORK.exec(entry) ?? []
  if (length !== '') return networkBlock(parseAddress(base), length)
  const [, from = '', to = ''] = RANGE.exec(entry) ?? []
  const isShort = /^\d{1,3}$/.test(to)
  const end = isShort ? from.replace(/\d+$/, to) : to
  return rangeBlock(parseAddress(from), parseAddress(end))
}

function networkBlock(address: Address | null, length: string): Block | null {
  if (address === null) return null
  const { version } = address
  const width = version === 4 ? 32 : 128
  const prefix = length.includes('.') ? prefixOfMask(length) : Number(length)
  if (prefix === undefined || prefix > width || (length.includes('.') && version === 6)) return null
  const size = 1n << BigInt(width - prefix)
  const first = (numberOf(address) / size) * size
  return { version, first, last: first + size - 1n }
}

/** The length of the prefix that a mask such as 255.255.255.0 stands for. */
function prefixOfMask(mask: string): number | undefined {
  const address = parseAddress(mask)
  if (address?.version !== 4) return undefined
  const prefix = Math.clz32(~address.bits)
  return address.bits << prefix === 0 || prefix === 32 ? prefix : undefined
}

function rangeBlock(from: Address | null, to: Address | null): Block | null {
  if (from === null || to === null || from.version !== to.version) return null
  const [first, last] = [numberOf(from), numberOf(to)]
  return first > last ? null : { version: from.version, first, last }
}

/** The block as a network if it is one, else as a range. */
export function blockText({ version, first, last }: Block): string {
  const size = last - first + 1n
  const width = version === 4 ? 32 : 128
  const bits = size.toString(2).length - 1
  const from = addressAt(version, first)
  if (size === 1n << BigInt(bits) && first % size === 0n) return networkText(from, width - bits)
  return `${from.text} - ${addressAt(version, last).text}`
}

export function addressAt(version: Address['version'], number: bigint): Address {
  if (version === 4) return ipv4FromBits(Number(number))
  const word = (at: number) => Number((number >> BigInt(96 - 32 * at)) & 0xffff_ffffn)
  const words = [word(0), word(1), word(2), word(3)] as const
  return { version, text: formatIpv6(words), words }
}

function numberOf(address: Address): bigint {
  if (address.version === 4) return BigInt(address.bits >>> 0)
  return address.words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
}
