import { BoundedCache } from '../parts/bounded-cache.ts'
import {
  type Address,
  isUnspecified,
  parseAddress,
  truncated,
  unmapped,
} from '../parts/net/address.ts'
import { addressOfEndpoint } from '../parts/net/endpoint.ts'
import { contains, type Network } from '../parts/net/network.ts'

/** The sender of a request. */
export interface Client {
  readonly address: Address
  /** The network of the address, for the log. */
  readonly network: string
  /**
   * `connection`: a peer that is not a trusted proxy. `header`: a trusted proxy names this client. `proxy`: a trusted
   * proxy itself, because it names nobody else.
   */
  readonly source: 'connection' | 'header' | 'proxy'
}

export interface ProxyTrust {
  /** Networks of our own proxies. Only their header is read. */
  readonly trustedProxies: readonly Network[]
  /**
   * Name of that header, in lower case. X-Forwarded-For holds a list to which each proxy adds its
   * peer; any other header holds one address.
   */
  readonly clientHeader: string
}

/** The headers of a request. */
export interface Headers {
  header(name: string): string | undefined
}

const REMEMBERED_PEERS = 10_000

/**
 * Returns a function that finds the client of a request by the address of its peer. It returns null if
 * that is not an IP address. Headers are read only if the peer is a trusted proxy; `onUntrusted` gets the requests of
 * others.
 */
export function createFindClient(
  { trustedProxies, clientHeader }: ProxyTrust,
  onUntrusted: (peer: Client, headers: Headers) => void = () => {},
) {
  const peers = new BoundedCache<string, Client>(REMEMBERED_PEERS)
  const readHeader = clientHeader === 'x-forwarded-for' ? walkBack : readOne
  return (peer: string | undefined, headers: Headers): Client | null => {
    if (peer === undefined) return null
    const client = peers.get(peer) ?? toClient(parsePeer(peer), 'connection')
    if (client === null) return null
    peers.set(peer, client)
    if (!isTrusted(client.address, trustedProxies)) {
      onUntrusted(client, headers)
      return client
    }
    const text = headers.header(clientHeader) ?? ''
    return toNamed(client, readHeader(client.address, text, trustedProxies))
  }
}

/**
 * Whether the address is a proxy's instead of its visitor's: a trusted proxy names nobody else, or the peer sends the
 * header without being trusted.
 */
export function isProxy({ source }: Client, sentHeader: string | undefined): boolean {
  return source === 'proxy' || (source === 'connection' && sentHeader !== undefined)
}

function toNamed(proxy: Client, { address, isNamed }: Found): Client | null {
  const isOther = isNamed && address.text !== proxy.address.text
  return toClient(address, isOther ? 'header' : 'proxy')
}

function toClient(address: Address | null, source: Client['source']): Client | null {
  return address === null ? null : { address, network: truncated(address), source }
}

interface Found {
  readonly address: Address
  /** false: the header has no address where the client's must be. */
  readonly isNamed: boolean
}

/**
 * Reads X-Forwarded-For from the right, where our own proxies write, up to the first address that is
 * not a trusted proxy. Empty hops do not count (RFC 9110, section 5.6.1.2). One that is not an address
 * ends the walk: everything to its left may be forged.
 */
function walkBack(proxy: Address, forwardedFor: string, trusted: readonly Network[]): Found {
  let found: Found = { address: proxy, isNamed: false }
  for (const hop of forwardedFor.split(',').toReversed()) {
    if (hop.trim() === '') continue
    const next = parseHop(hop)
    if (next === null) return { ...found, isNamed: false }
    found = { address: next, isNamed: true }
    if (!isTrusted(next, trusted)) return found
  }
  return found
}

function readOne(proxy: Address, text: string): Found {
  const address = parseHop(text)
  return { address: address ?? proxy, isNamed: address !== null }
}

function isTrusted(address: Address, trusted: readonly Network[]): boolean {
  return trusted.some((network) => contains(network, address))
}

/** Sockets report link-local peers with a zone, such as fe80::1%eth0. */
function parsePeer(text: string): Address | null {
  return parseClient(text.replace(/%.*$/, ''))
}

/** Parses an address as proxies write it, with or without a port and quotes (RFC 7239, section 4). */
function parseHop(hop: string): Address | null {
  const address = addressOfEndpoint(hop.trim().replace(/^"(.*)"$/, '$1'))
  return address === undefined ? null : parseClient(address)
}

/** IPv4 may come mapped to IPv6, as ::ffff:a.b.c.d. No client has the unspecified address. */
function parseClient(text: string): Address | null {
  const parsed = parseAddress(text)
  if (parsed === null) return null
  const address = unmapped(parsed)
  return isUnspecified(address) ? null : address
}
