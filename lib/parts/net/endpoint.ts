/**
 * Characters that editors and exports leave around an address. Those at the end are tried only from their first one:
 * otherwise a text of many spaces takes long.
 */
const AROUND =
  /^[\s\0\ufeff\u200b-\u200f\u2060"']+|(?<![\s\0\u200b-\u200f\u2060"',;])[\s\0\u200b-\u200f\u2060"',;]+$/g

/** A line or cell of a list without what is around its address. */
export function bareEntry(text: string): string {
  return text.replaceAll(AROUND, '')
}

/** How a format writes ports after addresses without brackets. */
export interface Ports {
  /** Always after a colon, as netstat of Linux and load balancers do. */
  readonly afterColon?: boolean
  /** Always after a dot, as tcpdump and netstat of BSD do. */
  readonly afterDot?: boolean
}

/**
 * The address in a text that is an address, alone or with its port: `a.b.c.d:port`, `[v6]:port`, and the forms
 * without brackets, `v6:port` and `address.port`; undefined for any other text.
 *
 * After eight groups, a number is a port, and after `::`, one of five digits is. One of up to four digits may be a
 * group as well, as in `2001:db8::1:443`: only the format can tell, so `ports` decides.
 */
export function addressOfEndpoint(text: string, ports: Ports = {}): string | undefined {
  const bracketed = BRACKETED.exec(text)?.[1]
  if (bracketed !== undefined) return isIpv6(bracketed) ? bracketed : undefined
  if (isIpv4(text)) return text
  const isAddress = isIpv6(text)
  if (isAddress && !(ports.afterColon === true && text.includes('::'))) return text
  return withoutPort(text, ports) ?? (isAddress ? text : undefined)
}

const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/
/** A port has no leading zeros. */
const WITH_PORT = /^(.*)([.:])(0|[1-9]\d{0,4})$/
const FIVE_DIGITS = 10_000
/**
 * Versions and object identifiers may have five numbers too. The latter begin with 0, 1 or 2, and few of the former
 * have three digits after the first dot.
 */
const NO_VERSION = /^(?![012]\.)\d+\..*\d{3}/
/** Octets of a hash or a hardware address. */
const OCTETS = /^(?:[\da-f]{2}:)+[\da-f]{2}$/i

function withoutPort(text: string, { afterDot }: Ports): string | undefined {
  const [, address = '', separator, digits] = WITH_PORT.exec(text) ?? []
  const port = Number(digits)
  if (!(port <= 0xffff)) return undefined
  if (isIpv6(address)) return OCTETS.test(text) ? undefined : plainIpv4(address)
  const isPort =
    separator === ':' || afterDot === true || (port >= FIVE_DIGITS && NO_VERSION.test(address))
  return isPort && isIpv4(address) ? address : undefined
}

/** The IPv4 address of a mapped one. */
function plainIpv4(address: string): string {
  return address.replace(/^::ffff:(?=.*\.)/i, '')
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const GROUP = /^[\da-f]{1,4}$/i

export function isIpv4(text: string): boolean {
  return IPV4.test(text)
}

/** RFC 4291, section 2.2. */
export function isIpv6(text: string): boolean {
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
