import { type Address, unmapped } from './address.ts'
import { contains, type Network, parseNetwork } from './network.ts'

/** Special-purpose addresses (RFC 6890) and multicast; IPv6 outside 2000::/3 is not in use. */
const SPECIAL = networks(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3', '2001:db8::/32'],
)
const GLOBAL_UNICAST = networks('0.0.0.0/0', '2000::/3')

/** Whether a host on the Internet may have the address: it is not private, local or reserved. */
export function isPublic(address: Address): boolean {
  const plain = unmapped(address)
  const isIn = (list: readonly Network[]) => list.some((network) => contains(network, plain))
  return isIn(GLOBAL_UNICAST) && !isIn(SPECIAL)
}

/** Whether hosts on the Internet may have all addresses of the network. */
export function isPublicNetwork(network: Network): boolean {
  return isPublic(network.address) && !SPECIAL.some(({ address }) => contains(network, address))
}

function networks(...texts: readonly string[]): Network[] {
  return texts.map(parseNetwork).filter((network) => network !== null)
}
