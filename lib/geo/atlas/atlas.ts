import * as v from 'valibot'
import { NO_OWNER, NO_PLACE } from '../answer/locate.ts'
import type { LookupResult } from '../answer/write-result.ts'
import { Contents, OWNER, PLACE, type Section } from './format.ts'

/**
 * The findings of all databases for every IPv4 network, combined into one index: a look-up is one
 * binary search, and the parts of the answer are ready as JSON.
 */
export type Atlas = ReturnType<typeof openAtlas>

/** Opens the atlas in `bytes`. Throws if they are damaged. */
export function openAtlas(bytes: Buffer) {
  const contents = readContents(bytes)
  const section = (name: Section) => sectionOf(bytes, contents, name)
  const findPlace = readPlaces(toWords(section('places')), section('text'), contents)
  const findOwner = readOwners(toWords(section('owners')), section('text'), contents)
  const index = toWords(section('index'))
  const refs = toWords(section('refs'))
  const lows = toHalfWords(section('lows'))
  /** The number of the network that contains the address. */
  const networkAt = (bits: number) => {
    const upper = bits >>> 16
    return lastUpTo(lows, bits & 0xffff, index[upper] ?? 0, index[upper + 1] ?? 0)
  }
  return {
    /** Looks up the address with these 32 bits. */
    find: (bits: number): LookupResult => {
      const at = networkAt(bits)
      const { place, confidence, measured, timezone, placeSources } = findPlace(refs[at * 2] ?? 0)
      const { network, networkSources } = findOwner(refs[at * 2 + 1] ?? 0)
      return { place, confidence, measured, timezone, placeSources, network, networkSources }
    },
    /**
     * How many leading bits of the address decide what a look-up finds in all databases. undefined if there may
     * be fewer than 17: an atlas splits networks at every 65,536th address.
     */
    matchedBits: (bits: number): number | undefined => {
      const at = networkAt(bits)
      const isLast = at + 1 === index[(bits >>> 16) + 1]
      const end = isLast ? HALF : (lows[at + 1] ?? 0)
      const size = largestBlock(bits & 0xffff, lows[at] ?? 0, end)
      return size === HALF ? undefined : Math.clz32(size) + 1
    },
  }
}

const HALF = 0x1_0000

/** The size of the largest block (CIDR) that contains `low`, from `start` up to, but not including, `end`. */
function largestBlock(low: number, start: number, end: number): number {
  let size = 1
  const fits = (larger: number) => {
    const first = low & -larger
    return first >= start && first + larger <= end
  }
  while (size < HALF && fits(size * 2)) size *= 2
  return size
}

/** Returns a function that reads a place by its number. */
function readPlaces(words: Uint32Array, text: Buffer, contents: Contents) {
  const countries = numbered(
    contents.countries.map(({ code, ...json }) => ({ json, country: code ? { code } : undefined })),
  )
  const regions = numbered(contents.regions)
  const timezones = numbered(contents.timezones)
  const ratings = numbered(contents.ratings)
  return (number: number) => {
    const at = number * PLACE.words
    const rating = ratings[words[at + PLACE.rating] ?? 0]
    const parts = countries[words[at + PLACE.country] ?? 0]
    if (rating === undefined || parts === undefined) return NO_PLACE
    const start = words[at + PLACE.textStart] ?? 0
    const { country, json } = parts
    return {
      place: {
        level: rating.level,
        country,
        json: {
          country: json.country,
          countryWithEmblems: json.countryWithEmblems,
          region: regions[words[at + PLACE.region] ?? 0] ?? '',
          city: text.toString('latin1', start, start + (words[at + PLACE.textLength] ?? 0)),
        },
      },
      confidence: rating.confidence,
      measured: rating.measured,
      timezone: timezones[words[at + PLACE.timezone] ?? 0],
      placeSources: rating.sources,
    }
  }
}

/** Returns a function that reads a network owner by its number. */
function readOwners(words: Uint32Array, text: Buffer, contents: Contents) {
  const sources = numbered(contents.ownerSources)
  return (number: number) => {
    const at = number * OWNER.words
    const networkSources = sources[words[at + OWNER.sources] ?? 0]
    if (networkSources === undefined) return NO_OWNER
    const start = words[at + OWNER.textStart] ?? 0
    const json = text.toString('latin1', start, start + (words[at + OWNER.textLength] ?? 0))
    return { network: { json }, networkSources }
  }
}

/** Numbers the values from 1; 0 means none. */
function numbered<Value>(values: readonly Value[]): readonly (Value | undefined)[] {
  return [undefined, ...values]
}

/** The last network from `start` up to, but not including, `end` that begins at or before `low`. */
function lastUpTo(lows: Uint16Array, low: number, start: number, end: number): number {
  let [first, last] = [start, end]
  while (last - first > 1) {
    const middle = (first + last) >>> 1
    if ((lows[middle] ?? 0) <= low) first = middle
    else last = middle
  }
  return first
}

function readContents(bytes: Buffer): Contents {
  const end = bytes.length - 4
  const length = end < 0 ? 0 : bytes.readUInt32LE(end)
  if (length === 0 || length > end) throw new Error('damaged: it has no table of contents')
  return v.parse(Contents, JSON.parse(bytes.toString('utf8', end - length, end)))
}

function sectionOf(bytes: Buffer, { sections }: Contents, name: Section): Buffer {
  const [start, length] = sections[name]
  if (start + length > bytes.length) throw new Error(`damaged: the section ${name} is cut off`)
  return bytes.subarray(start, start + length)
}

function toWords({ buffer, byteOffset, length }: Buffer): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length / 4)
}

function toHalfWords({ buffer, byteOffset, length }: Buffer): Uint16Array {
  return new Uint16Array(buffer, byteOffset, length / 2)
}
