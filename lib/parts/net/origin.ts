/** The host names of loopback, as `URL` writes them. */
export const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])

/** The longest host name (RFC 1035), in ASCII. */
const MAX_HOST_LENGTH = 253

/** Matches a host name without empty punycode labels, or an IPv6 address. */
const HOST = /^(?:(?!(?:.*\.)?xn--(?![a-z0-9]))[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])$/

/**
 * Reads an http or https origin as browsers send it: scheme, host and port, nothing else; null for
 * any other text. Checks both the text and the parsed URL: the URL parser accepts texts that no
 * browser sends (tabs, backslashes, a path of dots) and turns a full-width asterisk into a plain one.
 */
export function parseOrigin(text: string): URL | null {
  if (!/^https?:\/\/[^\s\p{Cc}/\\?#@*%]+$/iu.test(text)) return null
  const url = URL.parse(text)
  if (url === null || url.hostname.length > MAX_HOST_LENGTH) return null
  return HOST.test(url.hostname) ? url : null
}

/** Pages of apps that are made with Capacitor, Ionic and Tauri have origins of their own schemes. */
const APP = /^(?:capacitor|ionic|tauri):\/\/localhost$/i

/**
 * Reads the origin of a page or of an app, such as capacitor://localhost; null for any other text. `URL.origin` is
 * the text `null` for apps: use `protocol` and `host`.
 */
export function parseCallingOrigin(text: string): URL | null {
  return APP.test(text) ? URL.parse(text.toLowerCase()) : parseOrigin(text)
}
