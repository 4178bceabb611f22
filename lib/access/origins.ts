import { getPublicSuffix } from 'tldts'

/** What a publishable key may be used from: `https://app.example` or `https://*.example.com`. */
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

const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])
const WILDCARD = '*.'

/** Returns the pattern, or null where `text` is none or allows too much. */
export function parseOriginPattern(text: string): OriginPattern | null {
  const separator = text.indexOf('://')
  if (separator < 0) return null
  const wildcard = text.startsWith(WILDCARD, separator + 3)
  const plain = wildcard ? text.replace(`://${WILDCARD}`, '://') : text
  const url = parseOrigin(plain)
  if (url === null || (wildcard && !mayBeWildcard(url.hostname))) return null
  const { protocol, hostname: host, port } = url
  const normalised = `${protocol}//${wildcard ? WILDCARD : ''}${url.host}`
  return { text: normalised, protocol, host, port, wildcard }
}

/** Whether the request header `origin` is one that a pattern allows. */
export function matchesOrigin(patterns: readonly OriginPattern[], origin: string): boolean {
  const url = parseOrigin(origin)
  return url !== null && patterns.some((pattern) => matches(pattern, url))
}

/** A wildcard stands for one or more whole labels, never for none. */
function matches({ protocol, host, port, wildcard }: OriginPattern, url: URL): boolean {
  if (protocol !== url.protocol || port !== url.port) return false
  return wildcard ? url.hostname.endsWith(`.${host}`) : url.hostname === host
}

/**
 * An origin as browsers send it: scheme, host and port, nothing else. Compared with the text, since
 * the parser of URLs forgives what no browser sends: tabs, backslashes, a path of dots.
 */
function parseOrigin(text: string): URL | null {
  if (!/^https?:\/\/[^\s/\\?#@*%]+$/i.test(text)) return null
  const url = URL.parse(text)
  if (url === null || url.hostname.split('.').includes('')) return null
  const secure = url.protocol === 'https:' || LOCAL_HOSTS.has(url.hostname)
  return secure ? url : null
}

/** No `*.com`, no `*.co.uk`, no `*.github.io`, no address, no bare name. */
function mayBeWildcard(host: string): boolean {
  if (!host.includes('.') || /^[\d.]+$/.test(host) || host.startsWith('[')) return false
  return getPublicSuffix(host, { allowPrivateDomains: true }) !== host
}
