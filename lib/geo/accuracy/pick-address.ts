import { createHash } from 'node:crypto'
import { type Address, formatIpv6, ipv4FromBits } from '../../parts/net/address.ts'
import { type Network, networkText } from '../../parts/net/network.ts'

/** Figures of two runs can only be compared if both looked up the same addresses. */
export const SEED = 'meridian-accuracy-1'

const MAX_TRIES = 64

/**
 * Returns a function that picks one random address of a network, which the seed and the network decide, and
 * which is in no narrower network of `networks`: that one may be elsewhere. undefined: none was found, as the
 * narrower networks cover all or almost all of it.
 */
export function createPickAddress(
  networks: readonly Network[],
): (network: Network) => Address | undefined {
  const isCovered = createIsCovered(networks)
  return (network) => {
    const text = networkText(network.address, network.prefix)
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const address = addressIn(network, randomBits(attempt === 0 ? text : `${text} ${attempt}`))
      if (!isCovered(address, network.prefix)) return address
    }
    return undefined
  }
}

/** Returns a test: whether a network narrower than `prefix` contains the address. */
function createIsCovered(networks: readonly Network[]) {
  const texts = new Set(networks.map(({ address, prefix }) => networkText(address, prefix)))
  const lengths = (version: 4 | 6) => [
    ...new Set(
      networks.filter(({ address }) => address.version === version).map(({ prefix }) => prefix),
    ),
  ]
  const byVersion = { 4: lengths(4), 6: lengths(6) }
  return (address: Address, prefix: number): boolean =>
    byVersion[address.version].some(
      (length) => length > prefix && texts.has(networkText(address, length)),
    )
}

/** 128 bits. */
function randomBits(text: string): bigint {
  const digest = createHash('sha256')
    .update(SEED + text)
    .digest('hex')
  return BigInt(`0x${digest.slice(0, 32)}`)
}

/** The address of the network whose host part is the last of the random bits. */
function addressIn({ address, prefix }: Network, random: bigint): Address {
  if (address.version === 4) {
    const hostBits = 32 - prefix
    const host = Number(BigInt.asUintN(hostBits, random))
    // The address of the network itself belongs to no host, except in /31 (RFC 3021) and /32.
    return ipv4FromBits((address.bits >>> 0) + (host === 0 && hostBits >= 2 ? 1 : host))
  }
  const bits = address.words.reduce((sum, word) => (sum << 32n) + BigInt(word), 0n)
  const all = bits + BigInt.asUintN(128 - prefix, random)
  const word = (at: number) => Number(BigInt.asUintN(32, all >> BigInt(96 - 32 * at)))
  const words = [word(0), word(1), word(2), word(3)] as const
  return { version: 6, text: formatIpv6(words), words }
}
