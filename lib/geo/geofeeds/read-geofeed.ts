import type { Geofeed } from '../../config/geofeed-setting.ts'
import { type Network, networkText } from '../../parts/net/network.ts'
import { reasonOf } from '../../parts/reason.ts'
import { readCells, readNetwork } from '../overlay/cells.ts'
import { findCountry } from '../place/countries.ts'

/** What a geofeed states about a network. */
export interface Entry {
  readonly network: Network
  /** Entries of one feed share equal places. undefined: no location (RFC 8805 section 2.1.2). */
  readonly place: EntryPlace | undefined
}

export interface EntryPlace {
  readonly country: string
  /** ISO 3166-2, such as US-CA. */
  readonly region?: string
  readonly city?: string
}

export interface ReadGeofeed {
  /** The entries within the blocks of the feed, in its order. Each network occurs once. */
  readonly entries: readonly Entry[]
  /** How many entries are outside its blocks. */
  readonly outside: number
  /** How many lines are not valid entries. */
  readonly bad: number
  /** The first ignored lines, with their numbers and the reasons. */
  readonly examples: readonly string[]
}

const MAX_ENTRIES = 300_000
const MAX_EXAMPLES = 5
const MAX_LINE_LENGTH = 1_000

/**
 * Reads a geofeed by RFC 8805. As it says (section 2.1.3), lines that are not valid are left out, and so is a
 * network that an earlier line has. Entries outside the blocks do not count (RFC 9632 section 3).
 * Throws with the reason if the text makes no sense as a geofeed.
 */
export function readGeofeed(bytes: Uint8Array, blocks: Geofeed['blocks']): ReadGeofeed {
  const read = readLines(bytes, blocks, MAX_EXAMPLES)
  refuseNonsense(read)
  return read
}

/** All lines that are left out of a geofeed, with their numbers and the reasons. Throws if it is a page. */
export function listIgnoredLines(
  bytes: Uint8Array,
  blocks: Geofeed['blocks'],
): ReadGeofeed['examples'] {
  return readLines(bytes, blocks, Number.POSITIVE_INFINITY).examples
}

function readLines(bytes: Uint8Array, blocks: Geofeed['blocks'], maxExamples: number): ReadGeofeed {
  const text = new TextDecoder().decode(bytes)
  if (/^\s*</.test(text)) throw new Error('it is a page, not a geofeed')
  const isInBlocks = createIsWithin(blocks)
  const lines = new Map<string, number>()
  const places = new Map<string, EntryPlace>()
  const entries: Entry[] = []
  const examples: string[] = []
  const note = (line: number, reason: string) => {
    if (examples.length < maxExamples) examples.push(`line ${line}: ${reason}`)
  }
  let bad = 0
  let outside = 0
  for (const [number, plain] of eachLine(text)) {
    try {
      const { network, place } = readEntry(plain)
      noteLine(lines, network, number)
      if (isInBlocks(network)) entries.push({ network, place: place && shared(places, place) })
      else {
        outside++
        note(number, `${textOf(network)} is outside the blocks of the feed`)
      }
    } catch (cause) {
      bad++
      note(number, reasonOf(cause))
    }
    // At once: reading a million takes 700 MB of memory.
    if (entries.length > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`)
  }
  return { entries, outside, bad, examples }
}

const LINES = /([^\r\n]*)(?:\r\n|\r|\n|$)/g

/** The lines with an entry, and their numbers. A comment may follow an entry. */
export function* eachLine(text: string): Generator<[number: number, line: string]> {
  let number = 0
  for (const [, line = ''] of text.matchAll(LINES)) {
    number++
    const plain = line.replace(/#.*/, '').trim()
    if (plain !== '') yield [number, plain]
  }
}

/** Columns: prefix, country, region and city. The postal code is deprecated, and others are unknown. */
function readEntry(line: string): Entry {
  const [prefix = '', country = '', region = '', city = ''] = readEntryCells(line)
  return { network: readNetwork(prefix), place: readPlace(country, region, city) }
}

/** The columns of a line. Throws with the reason if the line cannot be an entry. */
export function readEntryCells(line: string): string[] {
  if (line.length > MAX_LINE_LENGTH) throw new Error('it is too long')
  if (line.includes('\uFFFD')) throw new Error('it is not UTF-8')
  return readCells(line)
}

/** Without a region and a city, these mean that the network has no location. */
const NO_COUNTRY = new Set(['', 'ZZ'])

/** Reads the columns of a location; undefined if there is none. Throws with the reason if one is not valid. */
export function readPlace(
  countryCell: string,
  regionCell: string,
  city: string,
): EntryPlace | undefined {
  const given = upperCase(countryCell)
  const region = upperCase(regionCell)
  if (NO_COUNTRY.has(given) && region === '' && city === '') return undefined
  const country = given === '' ? region.slice(0, 2) : given
  if (country === '') throw new Error('its city has no country')
  if (findCountry(country) === undefined) {
    throw new Error(`"${country}" is not an ISO 3166-1 code such as DE`)
  }
  if (region !== '') checkRegion(region, country)
  if (/\p{Cc}/u.test(city)) throw new Error('its city has control characters')
  return { country, ...(region !== '' && { region }), ...(city !== '' && { city }) }
}

function checkRegion(region: string, country: string): void {
  if (!/^[A-Z]{2}-[A-Z\d]{1,3}$/.test(region)) {
    throw new Error(`"${region}" is not an ISO 3166-2 code such as DE-BE`)
  }
  if (!region.startsWith(`${country}-`)) throw new Error(`region ${region} is not in ${country}`)
}

/** Upper case in ASCII only: others could become the letters of a code. */
function upperCase(cell: string): string {
  return cell.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())
}

/** Returns the same object for equal places: a feed may have hundreds of thousands of networks. */
function shared(places: Map<string, EntryPlace>, place: EntryPlace): EntryPlace {
  const key = `${place.country},${place.region},${place.city}`
  const known = places.get(key) ?? place
  places.set(key, known)
  return known
}

/** Throws if an earlier line has the network. */
function noteLine(lines: Map<string, number>, network: Network, line: number): void {
  const text = textOf(network)
  const earlier = lines.get(text)
  if (earlier !== undefined) throw new Error(`${text} is already in line ${earlier}`)
  lines.set(text, line)
}

function textOf({ address, prefix }: Network): string {
  return networkText(address, prefix)
}

/** Returns a test for networks: whether one of the blocks contains the network. */
function createIsWithin(blocks: readonly Network[]): (network: Network) => boolean {
  const texts = new Set(blocks.map(textOf))
  const lengths = [...new Set(blocks.map(({ prefix }) => prefix))]
  return ({ address, prefix }) =>
    lengths.some((length) => length <= prefix && texts.has(networkText(address, length)))
}

function refuseNonsense({ entries, outside, bad, examples }: ReadGeofeed): void {
  const all = entries.length + outside
  const example = examples.length === 0 ? '' : `, such as ${examples[0]}`
  if (bad > all) throw new Error(`${bad} of its ${all + bad} lines are not entries${example}`)
  if (entries.length === 0) throw new Error(`it has no entries within its blocks${example}`)
}
