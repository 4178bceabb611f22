import type { Words } from '../../parts/net/address.ts'
import { contains, type Network } from '../../parts/net/network.ts'
import type { MmdbValue } from '../mmdb/value.ts'
import { createMmdbWriter, treePrefix } from '../mmdb/writer.ts'
import { treeWords } from '../mmdb/writer-tree.ts'
import type { FreeList } from './free-lists.ts'

/** A list with its networks. */
export interface ReadList {
  readonly list: FreeList
  readonly networks: readonly Network[]
}

/**
 * Compiles the lists, in order of priority, into one database. An address has the flags of all lists that
 * contain it, and the service of the narrowest network. `builtAt` is in epoch milliseconds.
 */
export function compileLists(lists: readonly ReadList[], builtAt: number): Uint8Array {
  const writer = createMmdbWriter({
    databaseType: 'Meridian-Lists',
    description:
      'Networks of clouds, VPNs, relays and Tor, compiled from the lists of their owners',
    builtAt,
    ipVersion: 6,
  })
  /** The networks around the current one, widest first. */
  const around: Listed[] = []
  for (const { network, own } of eachNetwork(lists)) {
    while (isOutside(network, around.at(-1))) around.pop()
    const outer = around.at(-1)
    const listed = {
      network,
      lists: [...(outer?.lists ?? []), ...own],
      service: own.find(({ service }) => service !== undefined)?.service ?? outer?.service,
    }
    around.push(listed)
    writer.insert(network, toRecord(listed, lists))
  }
  return writer.toBytes()
}

interface Listed {
  readonly network: Network
  /** All lists that contain the network. */
  readonly lists: readonly FreeList[]
  readonly service: string | undefined
}

function isOutside({ address }: Network, around: Listed | undefined): boolean {
  return around !== undefined && !contains(around.network, address)
}

function toRecord({ lists, service }: Listed, all: readonly ReadList[]): MmdbValue {
  const inOrder = all.flatMap(({ list }) => (lists.includes(list) ? [list] : []))
  return {
    ...Object.fromEntries(inOrder.map(({ flag }) => [flag, true])),
    ...(service !== undefined && { service }),
    sources: [...new Set(inOrder.map(({ source }) => source))],
  }
}

interface Entry {
  readonly network: Network
  readonly words: Words
  readonly prefix: number
  readonly list: FreeList
}

/** Each network once, with the lists that have it, and after the networks around it. */
function* eachNetwork(lists: readonly ReadList[]) {
  let last: { readonly entry: Entry; readonly own: FreeList[] } | undefined
  for (const entry of sortedEntries(lists)) {
    if (last !== undefined && compareEntries(entry, last.entry) === 0) {
      last.own.push(entry.list)
      continue
    }
    if (last !== undefined) yield { network: last.entry.network, own: last.own }
    last = { entry, own: [entry.list] }
  }
  if (last !== undefined) yield { network: last.entry.network, own: last.own }
}

/** Networks by address, wider ones first; equal ones stay in the order of their lists. */
function sortedEntries(lists: readonly ReadList[]): Entry[] {
  const entries: Entry[] = []
  for (const { list, networks } of lists) {
    for (const network of networks) {
      const { address } = network
      entries.push({ network, words: treeWords(address), prefix: treePrefix(network), list })
    }
  }
  return entries.sort(compareEntries)
}

function compareEntries(a: Entry, b: Entry): number {
  for (const [at, word] of a.words.entries()) {
    const difference = word - (b.words[at] ?? 0)
    if (difference !== 0) return difference
  }
  return a.prefix - b.prefix
}
