import { getPublicSuffix } from 'tldts'
import { LOCAL_HOSTS, parseCallingOrigin } from '../parts/net/origin.ts'

/** Origins that may use a publishable key: `https://app.example` or `https://*.example.com`. */
export interface OriginPattern {
  /** Normalised: lower case, ASCII (punycode), no default port. */
  readonly text: string
  readonly protocol: string
  /** Without the `*.` of a wildcard. */
  readonly host: string
  readonly port: string
  readonly wildcard: boolean
}

export const MAX_ORIGINS = 20

const WILDCARD = '*.'

/** Parses a pattern, which may end in a slash; null if `given` is not a pattern or allows too much. */
export function parseOriginPattern(given: string): OriginPattern | null {
  const text = given.replace(/\/$/, '')
  const separator = text.indexOf('://')
  if (separator < 0) return null
  const wildcard = text.startsWith(WILDCARD, separator + 3)
  const plain = wildcard ? text.replace(`://${WILDCARD}`, '://') : text
  const url = parseSafeOrigin(plain)
  if (url === null || (wildcard && !mayHaveWildcard(url.hostname))) return null
  const { protocol, hostname: host, port } = url
  const normalised = `${protocol}//${wildcard ? WILDCARD : ''}${url.host}`
  return { text: normalised, protocol, host, port, wildcard }
}

/** Whether one of the patterns allows `origin`, a request header. */
export function matchesOrigin(patterns: readonly OriginPattern[], origin: string): boolean {
  const url = parseSafeOrigin(origin)
  return url !== null && patterns.some((pattern) => matches(pattern, url))
}

/** A wildcard matches one or more whole labels, never zero. */
function matches({ protocol, host, port, wildcard }: OriginPattern, url: URL): boolean {
  if (protocol !== url.protocol || port !== url.port) return false
  return wildcard ? url.hostname.endsWith(`.${host}`) : url.hostname === host
}

/** Allows http only on this machine: elsewhere a page can be modified in transit. */
function parseSafeOrigin(text: string): URL | null {
  const url = parseCallingOrigin(text)
  if (url === null) return null
  return url.protocol === 'https:' || LOCAL_HOSTS.has(url.hostname) ? url : null
}

/** False for IP addresses, names without a dot, and public suffixes such as com, co.uk and github.io. */
function mayHaveWildcard(host: string): boolean {
  if (!host.includes('.') || /^[\d.]+$/.test(host) || host.startsWith('[')) return false
  return getPublicSuffix(host, { allowPrivateDomains: true }) !== host
}
