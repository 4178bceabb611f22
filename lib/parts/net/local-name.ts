import { isIP } from 'node:net'

/**
 * Domains outside the public DNS: RFC 6761, 6762, 7686, 8375 and 9476, .internal and others that
 * ICANN delegates to nobody, and .lan, which routers use.
 */
const PRIVATE_DOMAIN =
  /(^|\.)(alt|corp|home|home\.arpa|internal|invalid|lan|local|localhost|mail|onion|test)$/

/**
 * Whether the public DNS does not cover the host: `localhost`, a name without a dot, an IP address.
 * Such a host may be a different machine in each network. `host` is as `URL` writes it.
 */
export function isLocalName(host: string): boolean {
  return !host.includes('.') || isIP(host) !== 0 || PRIVATE_DOMAIN.test(host)
}
