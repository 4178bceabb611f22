import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ipv4FromBits } from '../../parts/net/address.ts'
import { type Located, locate, type SearchedDatabase } from '../answer/locate.ts'
import type { GeoDatabase } from '../database.ts'
import { NO_FINDING } from '../place/finding.ts'
import { BytePool } from './byte-pool.ts'
import { type Contents, OWNER, PLACE, type Section } from './format.ts'

/** Networks per write to the file, and between two calls of `onProgress`. */
const CHUNK = 100_000
/** Networks between two pauses, in which the process can react to a signal. */
const PAUSE_EVERY = 10_000

/**
 * Looks up every IPv4 network in all databases and writes the atlas to a file. Writes what it finds
 * as it goes, so that memory holds only the starts of the networks and the distinct places and owners.
 */
export async function writeAtlas(
  path: string,
  databases: readonly GeoDatabase[],
  onProgress: (share: number) => void,
): Promise<void> {
  const lists = databases.map((database) => database.ipv4Starts())
  const parts = new AtlasParts()
  const file = await open(path, 'w')
  try {
    const out = new AtlasWriter(file)
    const index = indexOf(lists)
    await out.section('index', [toBytes(index)])
    const show = (done: number) => onProgress(done / (index.at(-1) ?? 1))
    await out.section('refs', refsOf(databases, lists, { parts, show }))
    await out.section('places', [parts.places.bytes])
    await out.section('owners', [parts.owners.bytes])
    await out.section('lows', lowsOf(lists))
    await out.section('text', [parts.text.bytes])
    await out.end(parts.contents())
  } finally {
    await file.close()
  }
}

/** Writes the sections one after the other, each in pieces. */
class AtlasWriter {
  readonly #file: FileHandle
  readonly #sections: Partial<Contents['sections']> = {}
  #at = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  async section(name: Section, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) {
    const start = this.#at
    for await (const piece of pieces) await this.#write(piece)
    this.#sections[name] = [start, this.#at - start]
    await this.#write(new Uint8Array(-this.#at & 3))
  }

  async end(contents: Omit<Contents, 'sections'>): Promise<void> {
    const json = Buffer.from(JSON.stringify({ ...contents, sections: this.#sections }))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(json.length)
    await this.#write(Buffer.concat([json, length]))
  }

  /** Unlike `write`, `writeFile` writes everything, or throws if the disk is full. */
  async #write(bytes: Uint8Array): Promise<void> {
    await this.#file.writeFile(bytes)
    this.#at += bytes.length
  }
}

interface RefsOptions {
  readonly parts: AtlasParts
  readonly show: (done: number) => void
}

/** Looks up every network. Yields the numbers of places and owners. */
async function* refsOf(
  databases: readonly GeoDatabase[],
  lists: readonly Uint32Array[],
  { parts, show }: RefsOptions,
) {
  const sources = databases.map((database, at) => inOrder(database, lists[at] ?? new Uint32Array()))
  const refs = new Uint32Array(CHUNK * 2)
  let done = 0
  for (const start of mergeStarts(lists)) {
    const at = (done % CHUNK) * 2
    if (at === 0) show(done)
    if (at === 0 && done > 0) yield toBytes(refs)
    if (done % PAUSE_EVERY === 0) await nextTurn()
    const located = locate(sources, ipv4FromBits(start))
    refs[at] = parts.addPlace(located)
    refs[at + 1] = parts.addOwner(located)
    done++
  }
  yield toBytes(refs.subarray(0, ((done - 1) % CHUNK) * 2 + 2))
}

/** A source for ascending addresses, which looks up each network of the database only once. */
function inOrder({ provider, product, find }: GeoDatabase, starts: Uint32Array): SearchedDatabase {
  let next = 0
  let finding = NO_FINDING
  return {
    provider,
    product,
    find: (address) => {
      if (address.version !== 4 || address.bits >>> 0 !== starts[next]) return finding
      next++
      finding = find(address)
      return finding
    },
  }
}

/** The lower halves of all starts. */
function* lowsOf(lists: readonly Uint32Array[]) {
  const lows = new Uint16Array(CHUNK)
  let count = 0
  for (const start of mergeStarts(lists)) {
    lows[count++] = start
    if (count < CHUNK) continue
    yield toBytes(lows)
    count = 0
  }
  yield toBytes(lows.subarray(0, count))
}

/** The starts of all lists and every 65,536th address, in order, without duplicates. */
function* mergeStarts(lists: readonly Uint32Array[]) {
  const uppers = Uint32Array.from({ length: 0x10000 }, (_, upper) => upper * 0x10000)
  const open = [uppers, ...lists].map((list) => ({ list, at: 0 }))
  const earliest = () =>
    open.reduce((least, { list, at }) => Math.min(least, list[at] ?? least), END)
  for (let start = earliest(); start < END; start = earliest()) {
    yield start
    for (const one of open) if (one.list[one.at] === start) one.at++
  }
}

/** After the last address. */
const END = 2 ** 32

/** See `SECTIONS`. */
function indexOf(lists: readonly Uint32Array[]): Uint32Array {
  const index = new Uint32Array(0x10000 + 1)
  let count = 0
  for (const start of mergeStarts(lists)) {
    if ((start & 0xffff) === 0) index[start >>> 16] = count
    count++
  }
  index[0x10000] = count
  return index
}

function toBytes({ buffer, byteOffset, byteLength }: Uint32Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** The distinct places and owners of an atlas, and the parts that they share. */
class AtlasParts {
  readonly text = new BytePool()
  readonly places = new BytePool()
  readonly owners = new BytePool()
  readonly #words = new Uint32Array(PLACE.words)
  readonly #wordBytes = toBytes(this.#words)
  readonly #countries = new Numbered<Contents['countries'][number]>()
  readonly #regions = new Numbered<string>()
  readonly #timezones = new Numbered<Contents['timezones'][number]>()
  readonly #ratings = new Numbered<Contents['ratings'][number]>()
  readonly #ownerSources = new Numbered<string[]>()

  constructor() {
    // Number 0 means no place or no owner.
    this.#add(this.places, new Array(PLACE.words).fill(0))
    this.#add(this.owners, new Array(OWNER.words).fill(0))
  }

  /** Returns the number of the place; 0 if there is none. */
  addPlace({ place, confidence, measured, timezone, placeSources }: Located): number {
    if (place === undefined) return 0
    const { json, level } = place
    const { country, countryWithEmblems } = json
    const sources = [...placeSources]
    const code = place.country?.code
    // In the order of PLACE.
    const words = [
      ...this.#addText(json.city),
      this.#countries.add(country, { ...(code && { code }), country, countryWithEmblems }),
      this.#regions.add(json.region, json.region),
      timezone ? this.#timezones.add(`${timezone.name} ${timezone.source}`, timezone) : 0,
      this.#addRating({ level, confidence, measured, sources }),
    ]
    return this.#add(this.places, words)
  }

  #addRating(rating: Contents['ratings'][number]): number {
    const { level, confidence, measured, sources } = rating
    const shares = measured && `${measured.country} ${measured.region} ${measured.city}`
    return this.#ratings.add(`${level} ${confidence} ${shares} ${sources}`, rating)
  }

  /** Returns the number of the owner; 0 if there is none. */
  addOwner({ network, networkSources }: Located): number {
    if (network === undefined) return 0
    const sources = [...networkSources]
    // In the order of OWNER.
    const words = [...this.#addText(network.json), this.#ownerSources.add(`${sources}`, sources)]
    return this.#add(this.owners, words)
  }

  contents(): Omit<Contents, 'sections'> {
    return {
      countries: this.#countries.values,
      regions: this.#regions.values,
      timezones: this.#timezones.values,
      ratings: this.#ratings.values,
      ownerSources: this.#ownerSources.values,
    }
  }

  #addText(text: string): [at: number, length: number] {
    return [this.text.add(Buffer.from(text, 'latin1')), text.length]
  }

  /** Returns the number of the record that the words make up. */
  #add(pool: BytePool, words: readonly number[]): number {
    this.#words.set(words)
    const bytes = words.length * 4
    return pool.add(this.#wordBytes.subarray(0, bytes)) / bytes
  }
}

/** Numbers distinct values from 1. */
class Numbered<Value> {
  readonly #numbers = new Map<string, number>()
  readonly values: Value[] = []

  /** Returns the number of the value with this key; 0 if the key is empty. */
  add(key: string, value: Value): number {
    if (key === '') return 0
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.values.push(value)
    this.#numbers.set(key, number)
    return number
  }
}
