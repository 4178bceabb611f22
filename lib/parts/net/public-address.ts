import { type Address, commonBits, ipv4FromBits, type Words } from './address.ts'
import { embeddedIpv4 } from './embedded-ipv4.ts'
import { contains, type Network, parseNetwork } from './network.ts'
import { NOT_UNICAST, SPECIAL_PURPOSE } from './special-purpose.ts'

interface Rule {
  readonly network: Network
  readonly isPublic: boolean
}

/** The narrowest network first. Where `reachable` is `inside`, look-ups of the IPv4 address inside decide. */
const RULES: readonly Rule[] = [...SPECIAL_PURPOSE, ...NOT_UNICAST]
  .flatMap(([text, reachable]) => {
    const network = parseNetwork(text)
    return network === null ? [] : [{ network, isPublic: reachable !== false }]
  })
  .sort((one, other) => other.network.prefix - one.network.prefix)
  // Networks in others of the same kind change nothing.
  .filter(
    ({ network, isPublic }, at, all) => decide(all.slice(at + 1), network.address) !== isPublic,
  )
const WITH_IPV4_INSIDE = SPECIAL_PURPOSE.flatMap(([text, reachable]) =>
  reachable === 'inside' ? (parseNetwork(text) ?? []) : [],
)
const IPV4_RULES = RULES.filter(({ network }) => network.address.version === 4)
const IPV6_RULES = RULES.filter(({ network }) => network.address.version === 6)

const PUBLIC = 0
const RESERVED = 1
const MIXED = 2
/** What the first 16 bits of an IPv4 address say. */
const IPV4_HALVES = new Uint8Array(0x1_0000)
for (const { network, isPublic } of IPV4_RULES.toReversed()) {
  const first = upperOf(network.address)
  const kind = isPublic ? PUBLIC : RESERVED
  if (network.prefix > 16) IPV4_HALVES[first] = MIXED
  else IPV4_HALVES.fill(kind, first, first + 2 ** (16 - network.prefix))
}
const IPV6_HALVES = new Set(IPV6_RULES.map(({ network }) => upperOf(network.address)))

/** Whether a host on the Internet may have the address: it is not private, local or reserved. */
export function isPublic(address: Address): boolean {
  if (address.version === 4) return isPublicIpv4(address.bits)
  const embedded = embeddedIpv4(address.words)
  return embedded === null ? isPublicIpv6(address, address.words) : isPublicIpv4(embedded.bits)
}

/** Whether hosts on the Internet may have all addresses of the network. */
export function isPublicNetwork(network: Network): boolean {
  const { address, prefix } = network
  const embedded = address.version === 6 ? embeddedIpv4(address.words) : null
  if (embedded !== null) {
    const inside = {
      address: ipv4FromBits(embedded.bits),
      prefix: Math.min(32, prefix - embedded.start),
    }
    return inside.prefix >= 0 && isPublicNetwork(inside)
  }
  // All IPv4 addresses are in each of the networks that hold them.
  const isHole = (rule: Rule) => !rule.isPublic && contains(network, rule.network.address)
  return (
    isPublic(address) &&
    !RULES.some(isHole) &&
    !WITH_IPV4_INSIDE.some((inner) => contains(network, inner.address))
  )
}

/** How many of the leading bits of an address decide whether it is public. */
export function publicBits(address: Address): number {
  if (address.version === 4) return decidingBits(IPV4_RULES, address)
  const embedded = embeddedIpv4(address.words)
  const own = decidingBits(IPV6_RULES, address)
  if (embedded === null) return own
  return Math.max(own, embedded.start + decidingBits(IPV4_RULES, ipv4FromBits(embedded.bits)))
}

function isPublicIpv4(bits: number): boolean {
  const known = IPV4_HALVES[bits >>> 16]
  return known === MIXED ? decide(IPV4_RULES, ipv4FromBits(bits)) : known === PUBLIC
}

function isPublicIpv6(address: Address, [a]: Words): boolean {
  return a >>> 29 === 1 && (!IPV6_HALVES.has(a >>> 16) || decide(IPV6_RULES, address))
}

function decide(rules: readonly Rule[], address: Address): boolean {
  return rules.find(({ network }) => contains(network, address))?.isPublic ?? true
}

/** Enough bits to tell in which of the networks the address is. */
function decidingBits(rules: readonly Rule[], address: Address): number {
  return rules.reduce((most, { network }) => {
    const common = commonWith(network.address, address)
    return Math.max(most, Math.min(common + 1, network.prefix))
  }, 0)
}

function commonWith(one: Address, other: Address): number {
  if (one.version === 4) return other.version === 4 ? Math.clz32(one.bits ^ other.bits) : 0
  return other.version === 6 ? commonBits(one.words, other.words) : 0
}

function upperOf(address: Address): number {
  return (address.version === 4 ? address.bits : address.words[0]) >>> 16
}
