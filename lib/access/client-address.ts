import { type Address, parseAddress, truncated, unmapped } from '../address.ts'
import { BoundedCache } from '../bounded-cache.ts'
import { contains, type Network } from '../network.ts'

/** Who sent a request. */
export interface Client {
  readonly address: Address
  /** The network of the address, for logs. */
  readonly network: string
}

/**
 * Finds the client of a request by the address of its peer. `forwardedFor` reads the header
 * X-Forwarded-For, and is called only where the peer is a trusted proxy. null: no usable address.
 */
export type FindClient = (
  peer: string | undefined,
  forwardedFor: () => string | undefined,
) => Client | null

const REMEMBERED_PEERS = 10_000

export function createFindClient(trusted: readonly Network[]): FindClient {
  const peers = new BoundedCache<string, Client>(REMEMBERED_PEERS)
  return (peer, forwardedFor) => {
    if (peer === undefined) return null
    const client = peers.get(peer) ?? toClient(parsePeer(peer))
    if (client === null) return null
    peers.set(peer, client)
    if (!isTrusted(client.address, trusted)) return client
    return toClient(walkBack(client.address, forwardedFor() ?? '', trusted))
  }
}

function toClient(address: Address | null): Client | null {
  return address === null ? null : { address, network: truncated(address) }
}

/**
 * Reads X-Forwarded-For from the right, where our own proxies write, up to the first address that
 * is no trusted proxy's. Anything that is no address ends the walk: what stands left of it was
 * written by whoever wrote it.
 */
function walkBack(proxy: Address, forwardedFor: string, trusted: readonly Network[]): Address {
  let client = proxy
  for (const hop of forwardedFor.split(',').toReversed()) {
    const next = parsePeer(hop.trim())
    if (next === null) return client
    client = next
    if (!isTrusted(client, trusted)) return client
  }
  return client
}

function isTrusted(address: Address, trusted: readonly Network[]): boolean {
  return trusted.some((network) => contains(network, address))
}

/** Sockets that listen on IPv6 report IPv4 peers as ::ffff:a.b.c.d; link-local ones with a zone. */
function parsePeer(text: string): Address | null {
  const address = parseAddress(text.replace(/%.*$/, ''))
  return address === null ? null : unmapped(address)
}
