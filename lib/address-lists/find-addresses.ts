/** Why a row has no result. */
export const NO_ADDRESS = 'No IPv4 or IPv6 address'

/** A word of the characters that addresses consist of, with a separator near its start. */
const WORD = /[\da-f]{0,4}[.:][\da-f.:]+/gi

/** The longest text of an address, such as 1111:2222:3333:4444:5555:6666:255.255.255.255. */
const LONGEST = 45

/**
 * The IPv4 and IPv6 addresses in a text, as they are written there: in a cell, or anywhere in a line of a
 * log. Ports, brackets, zones (`%eth0`) and punctuation around them are left out. Names and versions,
 * such as `1.2.3.4.example.com` and `Chrome/120.0.0.0`, are not addresses.
 */
export function findAddresses(text: string): string[] {
  const found: string[] = []
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const end = index + word.length
    if (word.length > 2 * LONGEST || isProduct(text, index)) continue
    const address = addressIn(apart(word, text.charAt(index - 1), text.charAt(end)))
    if (address !== undefined) found.push(address)
  }
  return found
}

/** Whether a name and a slash come before, as in `Chrome/120.0.0.0`. */
function isProduct(text: string, index: number): boolean {
  return text.charAt(index - 1) === '/' && /\w/.test(text.charAt(index - 2))
}

/**
 * The part of a word that no letters touch. A colon separates it from letters (`src:1.2.3.4`); after a
 * dot, it is a part of a name.
 */
function apart(word: string, before: string, after: string): string {
  let rest = word
  if (/[\w-]/.test(before)) {
    const first = rest.search(/[.:]/)
    if (rest.charAt(first) === '.') return ''
    rest = rest.slice(first + 1)
  }
  if (!/\w/.test(after)) return rest
  const last = Math.max(rest.lastIndexOf('.'), rest.lastIndexOf(':'))
  return rest.charAt(last) === ':' ? rest.slice(0, last) : ''
}

function addressIn(word: string): string | undefined {
  const trimmed = word.replace(/^\.+|\.+$/g, '')
  // A colon at the end is punctuation, two are a part of an IPv6 address.
  const bare = trimmed.replace(/^:(?!:)|(?<!:):$/g, '')
  if (isIpv6(bare)) return bare
  return bare.split(':').find((part) => IPV4.test(part))
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const GROUP = /^[\da-f]{1,4}$/i

/** RFC 4291, section 2.2. */
function isIpv6(text: string): boolean {
  if (!text.includes(':')) return false
  const halves = text.split('::')
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  const tail = text.endsWith('::') ? undefined : groups.at(-1)
  const hasIpv4 = tail !== undefined && IPV4.test(tail)
  const hex = hasIpv4 ? groups.slice(0, -1) : groups
  if (!hex.every((group) => GROUP.test(group))) return false
  const length = hex.length + (hasIpv4 ? 2 : 0)
  return halves.length === 1 ? length === 8 : halves.length === 2 && length < 8
}
