import { type Address, formatIpv6, ipv4FromBits } from '../../lib/parts/net/address.ts'

/** An address with the same first `kept` bits. `noise` says which other bits differ: a word for each 32. */
export function sibling(address: Address, kept: number, noise: readonly number[]): Address {
  const change = (bits: number, at: number) => {
    const own = Math.min(32, Math.max(0, kept - at * 32))
    const mask = own === 32 ? 0 : 0xffff_ffff >>> own
    return (bits ^ ((noise[at] ?? 0) & mask)) >>> 0
  }
  if (address.version === 4) return ipv4FromBits(change(address.bits, 0))
  const [a, b, c, d] = address.words
  return ipv6([change(a, 0), change(b, 1), change(c, 2), change(d, 3)])
}

export function ipv6(words: readonly [number, number, number, number]): Address {
  return { version: 6, text: formatIpv6(words), words }
}
