const SEGMENTS = 2
/** The length of the prefix of a key, which the log may show. */
const MAX_LENGTH = 16
/** IPv4 and IPv6 addresses, which may be the client's. */
const ADDRESSES = /\d+(\.\d+){3}|[\da-f]*:[\da-f.:]*:[\da-f.:]*/gi

/**
 * The beginning of an unknown path for the log, such as `/wp-admin/setup.php`: two segments without
 * addresses, cut so that a key in them stays secret.
 */
export function beginningOf(path: string): string {
  const segments = path.split('/').slice(1)
  const shown = segments.slice(0, SEGMENTS).map(shorten)
  return `/${[...shown, ...(segments.length > SEGMENTS ? ['…'] : [])].join('/')}`
}

function shorten(segment: string): string {
  const text = segment.replaceAll(ADDRESSES, '{address}')
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
}
