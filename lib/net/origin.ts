/** Of a name (RFC 1035), in ASCII. */
const MAX_HOST_LENGTH = 253

/** Labels of a name, or an IPv6 address. */
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])$/

/**
 * Reads an http or https origin as browsers send it: scheme, host and port, nothing else; null for
 * any other text. Both the text and what it is parsed to are looked at: the parser of URLs forgives
 * what no browser sends (tabs, backslashes, a path of dots), and makes an asterisk of a wide one.
 */
export function parseOrigin(text: string): URL | null {
  if (!/^https?:\/\/[^\s\p{Cc}/\\?#@*%]+$/iu.test(text)) return null
  const url = URL.parse(text)
  if (url === null || url.hostname.length > MAX_HOST_LENGTH) return null
  return HOST.test(url.hostname) ? url : null
}
