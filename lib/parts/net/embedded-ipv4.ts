import { isMapped, type Words } from './address.ts'

/** An IPv4 address embedded in an IPv6 address. */
export interface EmbeddedIpv4 {
  readonly bits: number
  /** How many bits of the IPv6 address come before those of the IPv4 address. */
  readonly start: number
  /**
   * True if the IPv6 address is only another form of the IPv4 address, and so has no record of its own:
   * IPv4-mapped (RFC 4291 section 2.5.5.2), NAT64 with the well-known prefix (RFC 6052 section 2.1)
   * and Teredo (RFC 4380 section 4; files that alias 2001::/32 lead to the Teredo server, which is
   * another host). False for 6to4 (RFC 3056
   * section 2), whose prefix is routed and may have its own record.
   */
  readonly isAlias: boolean
}

/** The ranges whose addresses have no record of their own: `::/96`, IPv4-mapped, NAT64, Teredo. */
export const WITHOUT_RECORDS: readonly (readonly [words: Words, bits: number])[] = [
  [[0, 0, 0, 0], 96],
  [[0, 0, 0xffff, 0], 96],
  [[0x0064_ff9b, 0, 0, 0], 96],
  [[0x2001_0000, 0, 0, 0], 32],
]

/** The IPv4 address inside `words`, or null. */
export function embeddedIpv4(words: Words): EmbeddedIpv4 | null {
  const [a, b, c, d] = words
  const isNat64 = a === 0x0064_ff9b && b === 0 && c === 0
  if (isMapped(words) || isNat64) return { bits: d, start: 96, isAlias: true }
  if (a === 0x2001_0000) return { bits: ~d >>> 0, start: 96, isAlias: true }
  if (a >>> 16 !== 0x2002) return null
  return { bits: (((a & 0xffff) << 16) | (b >>> 16)) >>> 0, start: 16, isAlias: false }
}

/** ::/96, which holds the IPv4 records of an IPv6 tree: deprecated as addresses (RFC 4291). */
export function isIpv4Compatible([a, b, c]: Words): boolean {
  return a === 0 && b === 0 && c === 0
}
