import { type Address, formatIpv4, formatIpv6, parseAddress, unmapped } from './address.ts'

/** A block of addresses, such as 10.0.0.0/8. */
export interface Network {
  readonly address: Address
  /** Length of the prefix in bits: 0 to 32 for IPv4, 0 to 128 for IPv6. */
  readonly prefix: number
}

/**
 * Parses a network in CIDR form; null for any other text. A bare address is a network of one
 * address. Bits after the prefix must be zero.
 */
export function parseNetwork(text: string): Network | null {
  const [base = '', length, ...rest] = text.split('/')
  const address = parseAddress(base)
  if (address === null || rest.length > 0) return null
  const width = address.version === 4 ? 32 : 128
  if (length === undefined) return { address, prefix: width }
  if (!/^\d{1,3}$/.test(length) || Number(length) > width) return null
  const network = { address, prefix: Number(length) }
  return hasHostBits(network) ? null : network
}

/** Converts a network of IPv4-mapped addresses (`::ffff:a.b.c.d/104`) to IPv4; returns others unchanged. */
export function unmappedNetwork(network: Network): Network {
  const address = unmapped(network.address)
  return address === network.address ? network : { address, prefix: network.prefix - 96 }
}

/** Whether `address` is in `network`; false if the IP versions differ. */
export function contains(network: Network, address: Address): boolean {
  if (network.address.version !== address.version) return false
  const base = wordsOf(network.address)
  const other = wordsOf(address)
  return base.every(
    (word, at) => ((word ^ (other[at] ?? 0)) & mask(network.prefix, at)) >>> 0 === 0,
  )
}

/** The network of the addresses that share the first `prefix` bits of `address`, as CIDR text. */
export function networkText(address: Address, prefix: number): string {
  if (address.version === 4) return `${formatIpv4(address.bits & mask(prefix, 0))}/${prefix}`
  const [a, b, c, d] = address.words
  const masked = (word: number, at: number) => (word & mask(prefix, at)) >>> 0
  return `${formatIpv6([masked(a, 0), masked(b, 1), masked(c, 2), masked(d, 3)])}/${prefix}`
}

function hasHostBits({ address, prefix }: Network): boolean {
  return wordsOf(address).some((word, at) => (word & ~mask(prefix, at)) >>> 0 !== 0)
}

function wordsOf(address: Address): readonly number[] {
  return address.version === 4 ? [address.bits] : address.words
}

/** The part of a prefix of `length` bits that covers the 32-bit word number `at`. */
function mask(length: number, at: number): number {
  const bits = Math.min(32, Math.max(0, length - at * 32))
  return bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0
}
