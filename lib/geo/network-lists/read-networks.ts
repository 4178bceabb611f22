import { type Network, parseNetwork } from '../../parts/net/network.ts'
import { isPublicNetwork } from '../../parts/net/public-address.ts'
import type { FreeList } from './free-lists.ts'

/** Wider networks are mistakes: nobody uses so many addresses for one purpose. */
const WIDEST = { 4: 8, 6: 16 } as const
/** The owner may make one mistake in this many entries. A list with more mistakes is refused. */
const ENTRIES_PER_MISTAKE = 100
/** A quarter of the IPv4 addresses. */
const MAX_IPV4_ADDRESSES = 2 ** 30

/** Reads the networks of a list, each once. Throws with the reason if the list makes no sense. */
export function readNetworks(list: FreeList, text: string): Network[] {
  const entries = [...new Set(list.read(text))]
  const networks = entries.map(readNetwork)
  const usable = networks.filter((network) => network !== null)
  const mistakes = entries.length - usable.length
  if (mistakes * ENTRIES_PER_MISTAKE > entries.length) {
    const example = JSON.stringify(entries[networks.indexOf(null)]?.slice(0, 50))
    throw new Error(
      `${mistakes} of its ${entries.length} entries are not public networks of a plausible size, such as ${example}`,
    )
  }
  if (usable.length < list.least) {
    throw new Error(`it has ${usable.length} networks; at least ${list.least} are expected`)
  }
  if (countIpv4(usable) > MAX_IPV4_ADDRESSES) {
    throw new Error('it covers more than a quarter of all IPv4 addresses')
  }
  return usable
}

/** A shrunken list is more likely broken than true. */
export function checkSize(networks: number, before: number | undefined): void {
  if (before === undefined || networks * 2 >= before) return
  throw new Error(
    `it has ${networks} networks, less than half of the ${before} before; --accept-smaller accepts it`,
  )
}

function readNetwork(entry: string): Network | null {
  const network = parseNetwork(entry)
  if (network === null || network.prefix < WIDEST[network.address.version]) return null
  return isPublicNetwork(network) ? network : null
}

function countIpv4(networks: readonly Network[]): number {
  return networks.reduce(
    (sum, { address, prefix }) => sum + (address.version === 4 ? 2 ** (32 - prefix) : 0),
    0,
  )
}
