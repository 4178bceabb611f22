import { isPublic } from '../parts/net/public-address.ts'
import type { Client, Headers } from './client-address.ts'

/** One of so many requests is looked at: the header of each would cost time. */
const EVERY = 16

/**
 * Watches for a proxy that names clients in a header but is not trusted, so that all its clients share one address.
 * Only peers in private networks count: on the Internet, anybody can send the header. `onFound` gets the network
 * of the first one.
 */
export function createProxyWatch(header: string, onFound: (network: string) => void) {
  let network: string | undefined
  let requests = 0
  return {
    /** Looks at a request of a peer that is not a trusted proxy. */
    see: (peer: Client, headers: Headers): void => {
      if (network !== undefined || requests++ % EVERY !== 0) return
      if (isPublic(peer.address) || headers.header(header) === undefined) return
      network = peer.network
      onFound(network)
    },
    /** The network of the proxy that was found; null: none. */
    found: (): string | null => network ?? null,
  }
}

export function proxyWarning(network: string, header: string): string {
  return `A proxy in ${network} sends ${header}, but is not trusted, so all its clients share one address; if it is yours, name it in MERIDIAN_TRUSTED_PROXIES`
}
