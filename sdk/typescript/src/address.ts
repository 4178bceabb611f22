import { SPECIAL_PURPOSE } from './generated/special-purpose.ts'

/** Addresses that begin with the same bits. A single address is a block of full length. */
export interface Block {
  readonly version: 4 | 6
  /** The address, or the first one of the block: 32 or 128 bits. */
  readonly bits: bigint
  /** How many bits all addresses of the block share. */
  readonly length: number
}

export interface Address extends Block {
  /** Canonical text: RFC 5952, lower case. */
  readonly text: string
}

/** The service's message for other texts. */
export const NOT_AN_ADDRESS = 'Not an IPv4 or IPv6 address'

const FULL_LENGTH = { 4: 32, 6: 128 } as const
const IPV4 = /^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}$/
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/

/** Parses an address; undefined for any other text. Zone ids (`fe80::1%eth0`) are refused. */
export function parseAddress(text: string): Address | undefined {
  if (IPV4.test(text)) return { version: 4, text, bits: ipv4Bits(text), length: FULL_LENGTH[4] }
  const groups = ipv6Text(text)
  if (groups === undefined) return undefined
  return { version: 6, text: withDots(groups), bits: ipv6Bits(groups), length: FULL_LENGTH[6] }
}

/** Parses a block in CIDR form, such as `81.2.69.0/24`. */
export function parseBlock(prefix: string): Block | undefined {
  const [text = '', digits = ''] = prefix.split('/')
  const address = parseAddress(text)
  const length = Number.parseInt(digits, 10)
  if (address === undefined || !(length >= 0 && length <= address.length)) return undefined
  return blockAround(address, length)
}

/** The block of this length that the address is in. */
export function blockAround({ version, bits }: Address, length: number): Block {
  const others = BigInt(FULL_LENGTH[version] - length)
  return { version, bits: (bits >> others) << others, length }
}

export function contains(block: Block, address: Address): boolean {
  if (block.version !== address.version) return false
  return blockAround(address, block.length).bits === block.bits
}

/** The IPv4 address in `::ffff:a.b.c.d`, which servers for both versions report; others as they are. */
export function unmapped(address: Address): Address {
  const dotted = /^::ffff:([\d.]+)$/.exec(address.text)?.[1]
  return (dotted === undefined ? undefined : parseAddress(dotted)) ?? address
}

/** The narrowest first. */
const SPECIAL = SPECIAL_PURPOSE.flatMap(([network, isPublic]) => {
  const block = parseBlock(network)
  return block === undefined ? [] : [{ block, isPublic }]
}).sort((one, other) => other.block.length - one.block.length)

/** Whether a host on the Internet may have the address: it is not private, local or reserved. */
export function isPublic(address: Address): boolean {
  const plain = unmapped(address)
  return SPECIAL.find(({ block }) => contains(block, plain))?.isPublic ?? true
}

function ipv4Bits(text: string): bigint {
  return text.split('.').reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n)
}

/** The IPv6 address as URLs have it: as RFC 5952 wants it, but without dots. */
function ipv6Text(text: string): string | undefined {
  if (!/^[\da-f:.]+$/i.test(text) || !text.includes(':')) return undefined
  try {
    return new URL(`http://[${text}]`).hostname.slice(1, -1)
  } catch {
    return undefined
  }
}

function ipv6Bits(text: string): bigint {
  const [head = [], tail = []] = text
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')))
  const gap = Array<string>(8 - head.length - tail.length).fill('0')
  return [...head, ...gap, ...tail].reduce(
    (bits, group) => (bits << 16n) | BigInt(`0x${group}`),
    0n,
  )
}

/** Writes `::ffff:102:304` as `::ffff:1.2.3.4`. */
function withDots(text: string): string {
  const [, high, low] = MAPPED.exec(text) ?? []
  if (high === undefined || low === undefined) return text
  const octets = [high, low].flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
  return `::ffff:${octets.join('.')}`
}
