import type { Words } from '../../net/address.ts'
import { contains, type Network } from '../../net/network.ts'
import type { RegionNames } from '../files/regions.ts'
import { treeWords } from '../mmdb/tree.ts'
import type { MmdbValue } from '../mmdb/value.ts'
import { createMmdbWriter, type MmdbWriter, treePrefix } from '../mmdb/writer.ts'
import { ALL_IPV4, type OverlayOptions, toRecord } from '../overlay/overlay.ts'
import type { Entry } from './read-geofeed.ts'

/** A geofeed with its entries, all of which are within its blocks. */
export interface FeedWithEntries {
  readonly blocks: readonly Network[]
  readonly entries: readonly Entry[]
}

/**
 * Compiles geofeeds into one database. In a block, only the feed of the narrowest block counts (RFC 9632
 * section 3), and of its entries the narrowest that contains the address (RFC 8805 section 2.1.3).
 */
export function compileGeofeeds(
  feeds: readonly FeedWithEntries[],
  { builtAt, regionNames }: OverlayOptions,
): Uint8Array {
  const writer = createMmdbWriter({
    databaseType: 'Meridian-Geofeeds',
    description: 'Locations of networks, as their operators publish them',
    builtAt,
    ipVersion: 6,
  })
  const items = feeds.flatMap((feed) => itemsOf(feed, regionNames)).sort(compareItems)
  const ofVersion = (version: 4 | 6) =>
    items.filter(({ network }) => network.address.version === version)
  insertAll(writer, ofVersion(6))
  // The file holds IPv4 at ::/96, which networks such as ::/8 are not meant for.
  if (items.some(({ network }) => network.address.text === '::')) writer.insert(ALL_IPV4, {})
  insertAll(writer, ofVersion(4))
  return writer.toBytes()
}

/** A block of a feed, or an entry with its record. */
interface Item {
  readonly network: Network
  readonly words: Words
  readonly prefix: number
  readonly feed: FeedWithEntries
  readonly record: MmdbValue | undefined
}

function itemsOf(feed: FeedWithEntries, regionNames: RegionNames): Item[] {
  const toItem = (network: Network, record: Item['record']) => {
    return {
      network,
      words: treeWords(network.address),
      prefix: treePrefix(network),
      feed,
      record,
    }
  }
  return [
    ...feed.blocks.map((block) => toItem(block, undefined)),
    ...feed.entries.map((entry) => toItem(entry.network, entryRecord(entry, regionNames))),
  ]
}

/** A region without a known name is left out, since answers name regions. */
function entryRecord({ place }: Entry, names: RegionNames): MmdbValue {
  if (place === undefined) return { geofeed: 'no place' }
  const { region, ...rest } = place
  const isKnown = region !== undefined && names[region] !== undefined
  return { geofeed: 'place', ...toRecord(isKnown ? place : rest, names) }
}

/** By address; wider networks first, and blocks before entries of the same network. */
function compareItems(a: Item, b: Item): number {
  for (const [at, word] of a.words.entries()) {
    const difference = word - (b.words[at] ?? 0)
    if (difference !== 0) return difference
  }
  return a.prefix - b.prefix || Number(isEntry(a)) - Number(isEntry(b))
}

function isEntry({ record }: Item): boolean {
  return record !== undefined
}

/** Inserts items of one IP version, in the order of `compareItems`. */
function insertAll(writer: MmdbWriter, items: readonly Item[]): void {
  /** The items around the current one, widest first. */
  const around: Item[] = []
  for (const item of items) {
    while (isOutside(item, around.at(-1))) around.pop()
    around.push(item)
    const owner = around.findLast((other) => !isEntry(other))?.feed
    if (owner !== item.feed) continue
    const narrowest = around.findLast((other) => isEntry(other) && other.feed === owner)
    writer.insert(item.network, narrowest?.record ?? {})
  }
}

function isOutside({ network }: Item, around: Item | undefined): boolean {
  return around !== undefined && !contains(around.network, network.address)
}
