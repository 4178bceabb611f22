import { addressOfEndpoint, isIpv4, isIpv6, type Ports } from '../parts/net/endpoint.ts'
import { isVersion } from './versions.ts'
import { withoutEscapes } from './without-escapes.ts'

/** Why a row has no result. */
export const NO_ADDRESS = 'No IPv4 or IPv6 address'

/** A word of the characters that addresses consist of, with a separator near its start. */
const WORD = /[\da-f]{0,4}[.:][\da-f.:]+/gi

/** The longest text of an address, such as 1111:2222:3333:4444:5555:6666:255.255.255.255. */
const LONGEST = 45

/**
 * The IPv4 and IPv6 addresses in a text, as they are written there: in a cell, or anywhere in a line of a
 * log. Ports, brackets, zones (`%eth0`), colours, escapes and punctuation around them are left out. Names and
 * versions, such as `1.2.3.4.example.com` and `Chrome/120.0.0.0`, are not addresses.
 */
export function findAddresses(text: string): string[] {
  const hasColons = text.includes('%3A') || text.includes('%3a')
  return findIn(hasColons ? withoutEscapes(text) : text, hasColons)
}

/** Decodes escapes only if an address may touch one: few lines have them, and it takes long. */
function findIn(text: string, isDecoded: boolean): string[] {
  const found: string[] = []
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!hasSeparators(word)) continue
    const plain = isDecoded ? text : decodedAt(text, index)
    if (plain !== text) return findIn(plain, true)
    const address = addressAt(text, index, word)
    if (address !== undefined) found.push(address)
  }
  return found
}

/** Digits of escapes may also be taken for the start of the word. */
function decodedAt(text: string, index: number): string {
  const before = text.charAt(index - 1)
  const isTouched = /[a-z\d%#]/i.test(before) || (before === '=' && text.startsWith('3D', index))
  return isTouched ? withoutEscapes(text) : text
}

const DOT = '.'.charCodeAt(0)
const COLON = ':'.charCodeAt(0)

/** Whether there are enough dots or colons, and not too many: most words are numbers and times. */
function hasSeparators(word: string): boolean {
  if (word.length > 2 * LONGEST) return false
  let [dots, colons] = [0, 0]
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    if (code === DOT) dots += 1
    else if (code === COLON) colons += 1
  }
  return dots >= 3 || colons >= 7 || word.includes('::')
}

function addressAt(text: string, index: number, word: string): string | undefined {
  const rest = withoutNameBefore(word, text.charAt(index - 1))
  const start = index + word.length - rest.length
  const end = index + word.length
  const whole = /[a-z\d]/i.test(text.charAt(end)) ? withoutNameAfter(rest, text) : rest
  const address = addressIn(whole, text)
  if (address === undefined || address.includes(':')) return address
  return isVersion(text, start + rest.indexOf(address), address) ? undefined : address
}

/** A colon separates an address from letters before it (`src:1.2.3.4`); a dot makes it a part of a name. */
function withoutNameBefore(word: string, before: string): string {
  if (!/[a-z\d]/i.test(before)) return word
  const first = word.search(/[.:]/)
  return word.charAt(first) === '.' ? '' : word.slice(first + 1)
}

/** What letters touch at the end of a word is a name, unless it can be that of a port (`2001:db8::1.https`). */
function withoutNameAfter(word: string, text: string): string {
  const last = Math.max(word.lastIndexOf('.'), word.lastIndexOf(':'))
  const start = word.slice(0, Math.max(0, last))
  if (word.charAt(last) === ':' || isIpv6(start)) return start
  return isIpv4(start) && portsIn(text).afterDot === true ? start : ''
}

function addressIn(word: string, text: string): string | undefined {
  const trimmed = word.replace(/^\.+|\.+$/g, '')
  // A colon at the end is punctuation, two are a part of an IPv6 address.
  const bare = trimmed.replace(/^:(?!:)|(?<!:):$|(?<=[^:]::):$/g, '')
  if (!bare.includes(':') && isIpv4(bare)) return bare
  const ports = MAY_END_WITH_PORT.test(bare) ? portsIn(text) : {}
  const address = addressOfEndpoint(bare, ports)
  if (address !== undefined || !bare.includes(':')) return address
  return bare.split(':').find((part) => isIpv4(part))
}

const MAY_END_WITH_PORT = /::.*:\d{1,4}$|^(?:\d+\.){4}\d+$/

/** Lines whose addresses have their ports after colons. */
const AFTER_COLON = [
  /(?:^|\s)(?:tcp|udp)6?\s+\d+\s+\d+\s/, // netstat of Linux, net-tools
  /^\S+ (?:[\d.]+ )?\d{4}-\d\d-\d\dT\S+ (?:app|net)\//, // AWS: access logs of ALB and NLB
  /^\d{4}-\d\d-\d\dT\S+ \S+ \S+:\d+ (?:-|\S+:\d+) -?[\d.]+ /, // AWS: access logs of classic load balancers
  /haproxy\[\d+\]:|^\S+:\d+ \[\d\d\/\w{3}\/\d{4}(?::\d\d){3}\.\d{3}\]/, // HAProxy, section 8.2 of its manual
  /\[AF_INET6?\]/, // OpenVPN, print_sockaddr_ex
]
/** Lines whose addresses have their ports after dots. */
const AFTER_DOT = [
  /\S\.\w+ > \S+\.\w+:/, // tcpdump, also of pflog
  /(?:^|\s)(?:tcp|udp)(?:4|6|46)?\s+\d+\s+\d+\s/, // netstat of BSD and macOS
  /\s(?:ESTABLISHED|LISTEN|IDLE|BOUND|(?:TIME|CLOSE)_WAIT|SYN_\w+|FIN_WAIT_\d|LAST_ACK|CLOSING)\b/, // Solaris
]

function portsIn(text: string): Ports {
  const isLike = (forms: readonly RegExp[]) => forms.some((form) => form.test(text))
  return { afterColon: isLike(AFTER_COLON), afterDot: isLike(AFTER_DOT) }
}
