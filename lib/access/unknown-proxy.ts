import type { SeenProxy } from '../config/seen-proxy.ts'
import { isPublic } from '../parts/net/public-address.ts'
import type { Client, Headers } from './client-address.ts'

/** One of so many requests is looked at: the header of each would cost time. */
const EVERY = 16

/**
 * Watches for a proxy that names clients in a header but is not trusted, so that all its clients share one address.
 * Only peers in private networks count: on the Internet, anybody can send the header. `onFound` gets
 * the first one.
 */
export function createProxyWatch(header: string, onFound: (seen: SeenProxy) => void) {
  let seen: SeenProxy | null = null
  let requests = 0
  return {
    /** Looks at a request of a peer that is not a trusted proxy. */
    see: (peer: Client, headers: Headers): void => {
      if (seen !== null || requests++ % EVERY !== 0) return
      if (isPublic(peer.address) || headers.header(header) === undefined) return
      seen = { address: peer.address.text, network: peer.network, header }
      onFound(seen)
    },
    /** The proxy that was found; null: none. */
    found: (): SeenProxy | null => seen,
  }
}
