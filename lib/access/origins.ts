import { getPublicSuffix } from 'tldts'
import { parseOrigin } from '../origin.ts'

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
  const url = parseSafeOrigin(plain)
  if (url === null || (wildcard && !mayBeWildcard(url.hostname))) return null
  const { protocol, hostname: host, port } = url
  const normalised = `${protocol}//${wildcard ? WILDCARD : ''}${url.host}`
  return { text: normalised, protocol, host, port, wildcard }
}

/** Whether the request header `origin` is one that a pattern allows. */
export function matchesOrigin(patterns: readonly OriginPattern[], origin: string): boolean {
  const url = parseSafeOrigin(origin)
  return url !== null && patterns.some((pattern) => matches(pattern, url))
}

/** A wildcard stands for one or more whole labels, never for none. */
function matches({ protocol, host, port, wildcard }: OriginPattern, url: URL): boolean {
  if (protocol !== url.protocol || port !== url.port) return false
  return wildcard ? url.hostname.endsWith(`.${host}`) : url.hostname === host
}

/** Pages of http are safe from being changed on the way only where they do not leave the machine. */
function parseSafeOrigin(text: string): URL | null {
  const url = parseOrigin(text)
  if (url === null) return null
  return url.protocol === 'https:' || LOCAL_HOSTS.has(url.hostname) ? url : null
}

/** No `*.com`, no `*.co.uk`, no `*.github.io`, no address, no bare name. */
function mayBeWildcard(host: string): boolean {
  if (!host.includes('.') || /^[\d.]+$/.test(host) || host.startsWith('[')) return false
  return getPublicSuffix(host, { allowPrivateDomains: true }) !== host
}
