/**
 * Reads an http or https origin as browsers send it: scheme, host and port, nothing else; null for
 * any other text. Compared with the text, since the parser of URLs forgives what no browser sends:
 * tabs, backslashes, a path of dots.
 */
export function parseOrigin(text: string): URL | null {
  if (!/^https?:\/\/[^\s/\\?#@*%]+$/i.test(text)) return null
  const url = URL.parse(text)
  return url === null || url.hostname.split('.').includes('') ? null : url
}
