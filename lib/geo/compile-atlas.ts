import { open } from 'node:fs/promises'
import { ipv4FromBits } from '../address.ts'
import { ATLAS_FORMAT, type Contents, SECTIONS, type Section } from './atlas-format.ts'
import { BytePool } from './byte-pool.ts'
import type { GeoDatabase } from './database.ts'
import { type Located, locate } from './locate.ts'
import { Numbered } from './numbered.ts'

export interface CompiledAtlas {
  readonly contents: Omit<Contents, 'sections'>
  readonly sections: Readonly<Record<Section, Uint8Array>>
}

/** So many networks are located between two calls of `onProgress`. */
const STEP = 100_000

/**
 * Merges what the databases say of all IPv4 addresses. Takes half a minute and some 700 MB for the
 * bundled set. Throws where there are more countries, regions or timezones than have numbers.
 */
export function compileAtlas(
  databases: readonly GeoDatabase[],
  onProgress: (share: number) => void,
): CompiledAtlas {
  const starts = mergeStarts(databases.map((database) => database.ipv4Starts()))
  const refs = new Uint32Array(starts.length * 2)
  const parts = new AtlasParts()
  for (let at = 0; at < starts.length; at++) {
    if (at % STEP === 0) onProgress(at / starts.length)
    const located = locate(databases, ipv4FromBits(starts[at] ?? 0))
    refs[at * 2] = parts.addPlace(located)
    refs[at * 2 + 1] = parts.addOwner(located)
  }
  return {
    contents: parts.contents(),
    sections: {
      index: toBytes(indexOf(starts)),
      refs: toBytes(refs),
      lows: toBytes(Uint16Array.from(starts, (start) => start & 0xffff)),
      ...parts.sections(),
    },
  }
}

/** Writes the file. */
export async function writeAtlas(path: string, compiled: CompiledAtlas): Promise<void> {
  const file = await open(path, 'w')
  try {
    const extents: [Section, [number, number]][] = []
    let at = 0
    for (const name of SECTIONS) {
      const bytes = compiled.sections[name]
      const padding = new Uint8Array(-bytes.length & 3)
      extents.push([name, [at, bytes.length]])
      // Unlike `write`, it goes on until all is written, or throws where the disk is full.
      await file.writeFile(bytes)
      await file.writeFile(padding)
      at += bytes.length + padding.length
    }
    const contents = { ...compiled.contents, sections: Object.fromEntries(extents) }
    const json = Buffer.from(JSON.stringify(contents))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(json.length)
    await file.writeFile(Buffer.concat([json, length]))
  } finally {
    await file.close()
  }
}

/** Where any of the lists has a network begin, and each 65,536th address; in order, each once. */
function mergeStarts(lists: readonly Uint32Array[]): Uint32Array {
  const uppers = Uint32Array.from({ length: 0x10000 }, (_, upper) => upper * 0x10000)
  const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, uppers.length))
  all.set(uppers)
  let end = uppers.length
  for (const list of lists) {
    all.set(list, end)
    end += list.length
  }
  all.sort()
  return all.filter((start, at) => at === 0 || start !== all[at - 1])
}

function indexOf(starts: Uint32Array): Uint32Array {
  const index = new Uint32Array(0x10000 + 1)
  index[0x10000] = starts.length
  for (let at = starts.length - 1; at >= 0; at--) index[(starts[at] ?? 0) >>> 16] = at
  return index
}

function toBytes({ buffer, byteOffset, byteLength }: Uint32Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** The places and owners of an atlas, each once, and what they are made of. */
class AtlasParts {
  readonly #text = new BytePool()
  readonly #places = new BytePool()
  readonly #owners = new BytePool()
  readonly #countries = new Numbered<Contents['countries'][number]>()
  readonly #regions = new Numbered<string>()
  readonly #timezones = new Numbered<Contents['timezones'][number]>()
  readonly #findings = new Numbered<Contents['findings'][number]>()
  readonly #ownerSources = new Numbered<string[]>()

  constructor() {
    addWords(this.#places, NONE.places)
    addWords(this.#owners, NONE.owners)
  }

  /** The number of the place; 0: there is none. */
  addPlace({ place, confidence, timezone, placeSources }: Located): number {
    if (place === undefined) return 0
    const { json, level } = place
    const { country, countryWithEmblems } = json
    const sources = [...placeSources]
    const words = [
      ...this.#addText(json.city),
      this.#countries.add(country, { country, countryWithEmblems }),
      this.#regions.add(json.region, json.region),
      timezone === undefined
        ? 0
        : this.#timezones.add(`${timezone.name} ${timezone.source}`, timezone),
      this.#findings.add(`${level} ${confidence} ${sources}`, { level, confidence, sources }),
    ]
    return addWords(this.#places, words)
  }

  /** The number of the owner; 0: there is none. */
  addOwner({ network, networkSources }: Located): number {
    if (network === undefined) return 0
    const sources = [...networkSources]
    const words = [
      ...this.#addText(network.json),
      this.#ownerSources.add(sources.join(' '), sources),
    ]
    return addWords(this.#owners, words)
  }

  contents(): Omit<Contents, 'sections'> {
    return {
      format: ATLAS_FORMAT,
      countries: this.#countries.list(),
      regions: this.#regions.list(),
      timezones: this.#timezones.list(),
      findings: this.#findings.list(),
      ownerSources: this.#ownerSources.list(),
    }
  }

  sections() {
    const [text, places, owners] = [this.#text.bytes, this.#places.bytes, this.#owners.bytes]
    return { text, places, owners }
  }

  #addText(text: string): [at: number, length: number] {
    return [this.#text.add(Buffer.from(text, 'latin1')), text.length]
  }
}

const NONE = { places: [0, 0, 0, 0, 0, 0], owners: [0, 0, 0] }

/** Returns how many of their kind stand before the words. */
function addWords(pool: BytePool, words: readonly number[]): number {
  if (words.includes(-1)) throw new Error('too many regions or timezones')
  return pool.add(toBytes(Uint32Array.from(words))) / (words.length * 4)
}
