import { addressOfEndpoint, isIpv4, isIpv6, type Ports } from '../parts/net/endpoint.ts'
import { createFindPorts } from './ports.ts'
import { isVersion } from './versions.ts'
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

/**
 * Colours of a terminal, also as programs write the escape character (`\e`, `\033`, `\u001b`, `^[`, `#033`); the
 * escapes of JSON and of C, of rsyslog (`#011`), of URLs, also twice, and the `=3D` of mails.
 */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what begins a colour
  /(?:\u001b|\\e|\\0?33|\\x1b|\\u001b|\^\[|#033)\[[\d;]*[a-z]|\\u00([\da-f]{2})|\\x([\da-f]{2})|\\[nrt/]|#0[0-3][0-7]|%(?:25)*(2[\da-f]|3[a-f]|5[b-e]|7[b-e]|0[9ad])|=3D(?=\d+\.)/gi
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const MAY_HAVE_ESCAPES = /[\\%\u001b]|\^\[|#0|=3D/

/** The text with the characters that escapes stand for, so that addresses do not touch letters of escapes. */
function withoutEscapes(text: string): string {
  if (!MAY_HAVE_ESCAPES.test(text)) return text
  return text.replace(ESCAPES, (found, ...[json, c, url]: (string | undefined)[]) => {
    if (found === '\\/') return '/'
    const code = Number.parseInt(json ?? c ?? url ?? '', 16)
    return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : ' '
  })
}
