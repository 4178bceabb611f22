import type { Address } from '../../parts/net/address.ts'
import { contains, type Network } from '../../parts/net/network.ts'
import type { RegionNames } from '../files/regions.ts'
import type { MmdbValue } from '../mmdb/value.ts'
import { createMmdbWriter, type MmdbWriter } from '../mmdb/writer.ts'
import { ALL_IPV4, type OverlayOptions, toRecord } from '../overlay/overlay.ts'
import type { Entry, EntryPlace } from './read-geofeed.ts'

/** A geofeed and its entries. Each entry is within a block of the feed. */
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
  const recordOf = createRecordOf(regionNames)
  const items = feeds.flatMap((feed) => itemsOf(feed, recordOf))
  const ofVersion = (version: 4 | 6) =>
    items.filter(({ network }) => network.address.version === version).sort(compareItems)
  insertAll(writer, ofVersion(6))
  // The file holds IPv4 at ::/96, which networks such as ::/8 are not meant for.
  if (items.some(({ network }) => network.address.text === '::')) writer.insert(ALL_IPV4, {})
  insertAll(writer, ofVersion(4))
  return writer.toBytes()
}

/** A block of a feed, or an entry with its record. */
interface Item {
  readonly network: Network
  readonly feed: FeedWithEntries
  readonly record: MmdbValue | undefined
}

type RecordOf = (place: Entry['place']) => MmdbValue

function itemsOf(feed: FeedWithEntries, recordOf: RecordOf): Item[] {
  return [
    ...feed.blocks.map((network) => ({ network, feed, record: undefined })),
    ...feed.entries.map(({ network, place }) => ({ network, feed, record: recordOf(place) })),
  ]
}

const NO_PLACE = { geofeed: 'no place' }

/** Makes one record for each place: feeds have far fewer places than networks. */
function createRecordOf(names: RegionNames): RecordOf {
  const records = new Map<EntryPlace, MmdbValue>()
  return (place) => {
    if (place === undefined) return NO_PLACE
    const known = records.get(place) ?? { geofeed: 'place', ...toRecord(place, names) }
    records.set(place, known)
    return known
  }
}

/** Items of one IP version by address; wider networks first, and blocks before entries of the same network. */
function compareItems(a: Item, b: Item): number {
  return (
    compareAddresses(a.network.address, b.network.address) ||
    a.network.prefix - b.network.prefix ||
    Number(isEntry(a)) - Number(isEntry(b))
  )
}

function compareAddresses(a: Address, b: Address): number {
  if (a.version === 4 || b.version === 4) return numberOf(a) - numberOf(b)
  for (const [at, word] of a.words.entries()) {
    const difference = word - (b.words[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function numberOf(address: Address): number {
  return address.version === 4 ? address.bits >>> 0 : 0
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
