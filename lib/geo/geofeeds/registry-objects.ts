import type { Geofeed } from '../../config/geofeed-setting.ts'
import { ipv4FromBits, parseAddress } from '../../parts/net/address.ts'
import { type Network, parseNetwork, unmappedNetwork } from '../../parts/net/network.ts'
import { reasonOf } from '../../parts/reason.ts'

/**
 * Reads the geofeeds that registry objects refer to, each with the blocks of these objects, as whois prints
 * them: inetnum and inet6num (RFC 2622), or ARIN's NetRange. A reference is `geofeed:`, or else a remark that
 * begins with `Geofeed` (RFC 9632 section 3). Objects without one are ignored. `onUnreadable` gets the reason for each
 * object that is skipped because its range cannot be read.
 */
export function readRegistryObjects(
  text: string,
  onUnreadable: (reason: string) => void = () => {},
): Geofeed[] {
  const feeds = new Map<string, Network[]>()
  for (const object of text.split(/(?:\r?\n[ \t]*){2,}/)) {
    const attributes = readAttributes(object)
    const source = referenceOf(attributes)
    if (source === undefined) continue
    try {
      feeds.set(source, [...(feeds.get(source) ?? []), ...blocksOf(attributes)])
    } catch (error) {
      onUnreadable(reasonOf(error))
    }
  }
  return [...feeds].map(([source, blocks]) => ({ source, blocks }))
}

type Attributes = readonly (readonly [name: string, value: string])[]

/**
 * Lines that begin with % or # are comments of the registry; those that begin with a space or + continue a value
 * (RFC 2622, section 2).
 */
function readAttributes(object: string): Attributes {
  return object
    .replaceAll(/\r?\n(?:[ \t]+|\+[ \t]*)(?=\S)/g, ' ')
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, name, value] = /^([a-z][\w-]*):\s*(.*?)\s*$/i.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value] as const]
    })
}

function referenceOf(attributes: Attributes): string | undefined {
  const valuesOf = (...names: readonly string[]) =>
    attributes.flatMap(([name, value]) => (names.includes(name) ? [value] : []))
  const [own] = valuesOf('geofeed')
  const [remark] = valuesOf('remarks', 'comment').flatMap(
    (value) => /^Geofeed:?\s+(\S+)/.exec(value)?.[1] ?? [],
  )
  const source = own ?? remark
  // RFC 9632 section 6 asks for https.
  return source?.startsWith('https://') ? source : undefined
}

/** ARIN states the blocks of its ranges as `CIDR`. */
function blocksOf(attributes: Attributes): Network[] {
  const cidr = attributes.find(([name]) => name === 'cidr')?.[1].split(/,\s*/)
  const texts = cidr ?? attributes.flatMap(([name, value]) => (RANGES.has(name) ? [value] : []))
  return texts.flatMap((text) => {
    const network = parseNetwork(wholeText(text))
    return network === null ? rangeToBlocks(text) : [unmappedNetwork(network)]
  })
}

/** LACNIC leaves out the zeros at the end: `10.8/16`. */
function wholeText(text: string): string {
  const [, numbers = '', length] = /^(\d+(?:\.\d+){0,2})\/(\d+)$/.exec(text) ?? []
  if (length === undefined) return text
  return `${[...numbers.split('.'), '0', '0', '0'].slice(0, 4).join('.')}/${length}`
}

const RANGES = new Set(['inetnum', 'inet6num', 'netrange'])

/** The fewest blocks that make up a range of IPv4 addresses such as `192.0.2.0 - 192.0.2.191`. */
function rangeToBlocks(text: string): Network[] {
  const [first = null, last = null] = text.split(/\s*-\s*/).map(parseAddress)
  if (first?.version !== 4 || last?.version !== 4) {
    throw new Error(`"${text}" is not a range of IPv4 addresses or a network`)
  }
  const blocks: Network[] = []
  const end = last.bits >>> 0
  for (let start = first.bits >>> 0; start <= end; ) {
    let size = 1
    while (size < 2 ** 32 && start % (size * 2) === 0 && start + size * 2 - 1 <= end) size *= 2
    blocks.push({ address: ipv4FromBits(start), prefix: 32 - Math.log2(size) })
    start += size
  }
  return blocks
}
