import { addressOfEndpoint, isIpv4, isIpv6, type Ports } from '../parts/net/endpoint.ts'
import { createFindPorts } from './ports.ts'
import { isVersion } from './versions.ts'
import { withoutEscapes } from './without-escapes.ts'
import { nextWord, type Word } from './words.ts'

/** Why a row has no result. */
export const NO_ADDRESS = 'No IPv4 or IPv6 address'

/**
 * The IPv4 and IPv6 addresses in a text, as they are written there: in a cell, or anywhere in a line of a
 * log. Ports, brackets, zones (`%eth0`), colours, escapes and punctuation around them are left out. Names and
 * versions, such as `1.2.3.4.example.com` and `Chrome/120.0.0.0`, are not addresses.
 */
export function findAddresses(text: string): string[] {
  const hasColons = text.includes('%3A') || text.includes('%3a')
  return findIn(hasColons ? withoutEscapes(text) : text, hasColons)
}

/** A text, and how it writes ports. */
interface Line {
  readonly text: string
  readonly findPorts: ReturnType<typeof createFindPorts>
}

/** Decodes escapes only if an address may touch one: few lines have them, and it takes long. */
function findIn(text: string, isDecoded: boolean): string[] {
  const found: string[] = []
  let line: Line | undefined
  let plain = isDecoded ? text : undefined
  for (let word = nextWord(text, 0); word !== undefined; word = nextWord(text, word.end)) {
    if (plain === undefined && mayTouchEscape(text, word.start)) {
      plain = withoutEscapes(text)
      if (plain !== text) return findIn(plain, true)
    }
    line ??= { text, findPorts: createFindPorts(text) }
    const address = addressAt(line, word)
    if (address !== undefined) found.push(address)
  }
  return found
}

/** Digits of escapes may also be taken for the start of the word. */
function mayTouchEscape(text: string, start: number): boolean {
  const before = text.charAt(start - 1)
  return /[a-z\d%#]/i.test(before) || (before === '=' && text.startsWith('3D', start))
}

function addressAt(line: Line, word: Word): string | undefined {
  const { text } = line
  const { end } = word
  const rest = withoutNameBefore(text.slice(word.start, end), text.charAt(word.start - 1))
  const start = end - rest.length
  const isName = /[a-z\d]/i.test(text.charAt(end)) || HEX_NAME.test(rest)
  const findPorts = () => line.findPorts(start, end)
  const whole = isName ? withoutNameAfter(rest, findPorts) : rest
  // A port ends a word. These characters come after an address, or stand for another port.
  const isCut = isName || '%]/*'.includes(text.charAt(end) || ' ')
  const address = addressIn(whole, isCut ? NO_PORTS : findPorts)
  if (address === undefined || address.includes(':')) return address
  return isVersion(text, start + rest.indexOf(address), address) ? undefined : address
}

/** A name of letters up to f after a dot: numbers of IPv4 addresses have none. */
const HEX_NAME = /\.[\da-f]*[a-f][\da-f]*$/i
const NO_PORTS = (): Ports => ({})

/** A colon separates an address from letters before it (`src:1.2.3.4`); a dot makes it a part of a name. */
function withoutNameBefore(word: string, before: string): string {
  if (!/[a-z\d]/i.test(before)) return word
  const first = word.search(/[.:]/)
  return word.charAt(first) === '.' ? '' : word.slice(first + 1)
}

/** A word that ends in letters is a name, unless the letters can name a port (`2001:db8::1.https`). */
function withoutNameAfter(word: string, findPorts: () => Ports): string {
  const last = Math.max(word.lastIndexOf('.'), word.lastIndexOf(':'))
  const start = word.slice(0, Math.max(0, last))
  if (word.charAt(last) === ':' || isIpv6(start)) return start
  return isIpv4(start) && findPorts().afterDot === true ? start : ''
}

function addressIn(word: string, findPorts: () => Ports): string | undefined {
  const trimmed = word.replace(/^\.+|\.+$/g, '')
  // A colon at the end is punctuation, two are a part of an IPv6 address.
  const bare = trimmed.replace(/^:(?!:)|(?<!:):$|(?<=[^:]::):$/g, '').replace(LABEL, '')
  if (!bare.includes(':') && isIpv4(bare)) return bare
  const ports = MAY_END_WITH_PORT.test(bare) ? findPorts() : {}
  const address = addressOfEndpoint(bare, ports)
  if (address !== undefined || !bare.includes(':')) return address
  return bare.split(':').find((part) => isIpv4(part))
}

const MAY_END_WITH_PORT = /::.*:\d{1,4}$|^(?:\d+\.){4}\d+$/

/** A name of letters up to f before eight groups of an address that is in use (RFC 4291, section 2.4). */
const LABEL =
  /^[a-f]{1,4}:(?=(?:[23][\da-f]{3}|f[cde][\da-f]{2})(?::[\da-f]{1,4}){7}(?::\d{1,5})?$)/i
