import * as v from 'valibot'
import { Contents, OWNER_WORDS, PLACE_WORDS, type Section } from './atlas-format.ts'
import type { Describable } from './describe.ts'

/**
 * What all databases together say of every IPv4 network, merged beforehand: a look-up is one search
 * in one list, and the parts of the answer stand ready as JSON.
 */
export interface Atlas {
  /** What is said of the address, given as its 32 bits. */
  find(bits: number): Describable
}

const NO_OWNER = { network: undefined, networkSources: [] } as const
const NO_PLACE = {
  place: undefined,
  confidence: undefined,
  timezone: undefined,
  placeSources: [],
} as const

/** Opens the atlas in `bytes`. Throws where they are not one of this format. */
export function openAtlas(bytes: Buffer): Atlas {
  const contents = readContents(bytes)
  const { countries, regions, timezones, findings, ownerSources } = contents
  const text = sectionOf(bytes, contents, 'text')
  const index = toWords(sectionOf(bytes, contents, 'index'))
  const refs = toWords(sectionOf(bytes, contents, 'refs'))
  const places = toWords(sectionOf(bytes, contents, 'places'))
  const owners = toWords(sectionOf(bytes, contents, 'owners'))
  const lows = toHalfWords(sectionOf(bytes, contents, 'lows'))

  const findPlace = (number: number) => {
    const at = number * PLACE_WORDS
    const finding = findings[(places[at + 5] ?? 0) - 1]
    const country = countries[(places[at + 2] ?? 0) - 1]
    if (finding === undefined || country === undefined) return NO_PLACE
    const start = places[at] ?? 0
    return {
      place: {
        level: finding.level,
        json: {
          country: country.country,
          countryWithEmblems: country.countryWithEmblems,
          region: regions[(places[at + 3] ?? 0) - 1] ?? '',
          city: text.toString('latin1', start, start + (places[at + 1] ?? 0)),
        },
      },
      confidence: finding.confidence,
      timezone: timezones[(places[at + 4] ?? 0) - 1],
      placeSources: finding.sources,
    }
  }
  const findOwner = (number: number) => {
    const at = number * OWNER_WORDS
    const networkSources = ownerSources[(owners[at + 2] ?? 0) - 1]
    if (networkSources === undefined) return NO_OWNER
    const start = owners[at] ?? 0
    return {
      network: { json: text.toString('latin1', start, start + (owners[at + 1] ?? 0)) },
      networkSources,
    }
  }
  return {
    find: (bits) => {
      const upper = bits >>> 16
      const at = lastUpTo(lows, bits & 0xffff, index[upper] ?? 0, index[upper + 1] ?? 0)
      const { place, confidence, timezone, placeSources } = findPlace(refs[at * 2] ?? 0)
      const { network, networkSources } = findOwner(refs[at * 2 + 1] ?? 0)
      return { place, confidence, timezone, placeSources, network, networkSources }
    },
  }
}

/** The number of the last network of `start` to `end` that does not begin after `low`. */
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
