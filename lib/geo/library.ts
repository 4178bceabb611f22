import { HOUR_MS, MINUTE_MS } from '../parts/durations.ts'
import type { Log } from '../parts/log/log.ts'
import { type Address, ipv4FromBits } from '../parts/net/address.ts'
import { networkText } from '../parts/net/network.ts'
import { isPublic, publicBits } from '../parts/net/public-address.ts'
import { reasonOf } from '../parts/reason.ts'
import { runInSlices } from '../parts/time-slices.ts'
import { locate, NO_PLACE } from './answer/locate.ts'
import type { LookupResult } from './answer/write-result.ts'
import { createSystems } from './asn/systems.ts'
import type { AtlasKeeper } from './atlas/keeper.ts'
import { attributionOf } from './attribution.ts'
import { type GeoDatabase, type OpenOptions, openDatabase } from './database.ts'
import type { SourceFile } from './files/source-files.ts'
import type { PlaceNames } from './place/names.ts'
import { joinOthers, type OtherCountries } from './place/other-countries.ts'
import { joinFindings, type PrivacyFinding } from './privacy/finding.ts'

/** The open databases. A replaced file is reopened while look-ups go on. */
export type Library = Awaited<ReturnType<typeof openLibrary>>

interface LibraryOptions extends Omit<OpenOptions, 'name'> {
  /** Returns the files to serve now, in order of priority. */
  readonly findFiles: () => readonly SourceFile[]
  readonly log: Log
  readonly atlas?: AtlasKeeper
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number
  /** Epoch milliseconds, for the times in `files`; default: the system's clock. */
  readonly clock?: (() => number) | undefined
}

/** A file that is served, and whether its newer versions were refused. Times are epoch milliseconds. */
export interface OpenFile {
  readonly file: SourceFile
  readonly database: GeoDatabase
  /** When this version was opened. */
  readonly openedAt: number
  /** The last time that a version of the file was refused. */
  readonly refusal?: { readonly at: number; readonly reason: string }
  /** Whether the file was refused and an earlier version of it is served. */
  readonly isEarlier: boolean
}

interface Outcome {
  readonly file: SourceFile
  /** undefined: no version of the file is usable. */
  readonly openFile: OpenFile | undefined
  /** Why the file was refused, if it was. */
  readonly reason?: string
}

/** The files being served. Each load makes a new object. */
interface Served {
  /** The paths and versions of the files found at the last load, including refused ones. */
  readonly signature: string
  readonly openFiles: readonly OpenFile[]
  readonly databases: readonly GeoDatabase[]
  /** The databases that locate addresses. */
  readonly places: readonly GeoDatabase[]
  /** The databases about privacy. Only look-ups that include privacy read them. */
  readonly privacy: readonly GeoDatabase[]
  /** Whether each database that locates addresses is the newest version of its file. */
  readonly arePlacesCurrent: boolean
  /** The first file without a usable version; undefined if each has one. */
  readonly unusable: Outcome | undefined
  /** How often a file has been refused so far. */
  readonly refused: number
  /** How many loads of these files in a row have refused one. */
  readonly failures: number
}

const NOTHING_SERVED: Served = {
  signature: '',
  openFiles: [],
  databases: [],
  places: [],
  privacy: [],
  arePlacesCurrent: true,
  unusable: undefined,
  refused: 0,
  failures: 0,
}

const FIRST_RETRY_MS = MINUTE_MS
const LONGEST_RETRY_MS = HOUR_MS

/** Opens the databases. Throws if there is none, or if one has no usable version. */
export async function openLibrary(options: LibraryOptions) {
  const { findFiles, atlas, now = () => performance.now() } = options
  let served = await load(findFiles(), NOTHING_SERVED, options)
  let loadedAt = now()
  let lastSeen = ''
  checkUsable(served)
  await adoptAtlas(atlas, served)
  const find = (address: Address) => findIn(address, served.places, atlas)
  const places = () => served.places
  const systems = createSystems({ databases: places, lookUp: find, log: options.log, now })
  return {
    /** Looks the address up in the atlas if possible, else in all databases. A reserved address has no place. */
    find,
    /** See `createSystems`. */
    findSystem: systems.find,
    /** The smallest block (CIDR) around the address for which the answer is the same. */
    prefix: (address: Address, subjects: Subjects) => prefixOf(address, subjects, served, atlas),
    /** Which other countries the databases name for the address, in order of priority. */
    findOthers: (address: Address) => findOthersIn(address, served.places),
    /** What the databases about privacy state together; undefined if nothing. */
    findPrivacy: (address: Address): PrivacyFinding | undefined =>
      joinFindings(served.privacy.flatMap(({ findPrivacy }) => findPrivacy(address) ?? [])),
    /** The names of the address's place in all languages, in order of priority. */
    names: (address: Address) => namesIn(address, served.places),
    /** The open databases that locate addresses, in order of priority. */
    places,
    /** All open databases, in order of priority: the same list until a file changes. */
    list: () => served.databases,
    /** All open files, in order of priority. */
    files: () => served.openFiles,
    /** How often a file has been refused so far. */
    refused: () => served.refused,
    /** Whether an atlas is in use. */
    hasAtlas: () => atlas?.isOpen() ?? false,
    /**
     * Reopens changed files. If a new file cannot be used, logs why, keeps serving the old one and
     * tries again later: the disk may have been too full for a copy.
     */
    refresh: async () => {
      const files = findFiles()
      const signature = signatureOf(files)
      // A file that has changed since the last call may not be complete yet.
      const isSettled = signature === lastSeen
      lastSeen = signature
      const isDue = now() - loadedAt >= retryPause(served)
      if (isSettled && (signature !== served.signature || isDue)) {
        const before = signatureOf(placeFiles(served))
        served = await load(files, served, options)
        loadedAt = now()
        if (signatureOf(placeFiles(served)) !== before) {
          atlas?.drop()
          systems.drop()
        }
      }
      systems.dropIfUnused()
      await adoptAtlas(atlas, served)
    },
  }
}

function findIn(
  address: Address,
  places: readonly GeoDatabase[],
  atlas: AtlasKeeper | undefined,
): LookupResult {
  if (!isPublic(address)) return locateReserved(places, address)
  return atlas?.find(address) ?? locate(places, address)
}

/** Only the operator's own data say where a reserved address is. Providers have records there by mistake. */
function locateReserved(places: readonly GeoDatabase[], address: Address): LookupResult {
  const own = places.filter(({ provider }) => attributionOf(provider) === '')
  const located = locate(places, address)
  return locate(own, address).place === undefined ? { ...located, ...NO_PLACE } : located
}

/** `records`: all that the records of places state, other countries included, which the atlas does not have. */
type Subjects = 'place' | 'place and privacy' | 'records' | 'records and privacy'

function prefixOf(
  address: Address,
  subjects: Subjects,
  { places, privacy }: Served,
  atlas: AtlasKeeper | undefined,
): string {
  const combined = subjects.startsWith('records') ? undefined : atlas?.matchedBits(address)
  const found = combined ?? matchedBits(places, address)
  const bits = Math.max(found, publicBits(address))
  if (!subjects.endsWith('privacy')) return networkText(address, bits)
  return networkText(address, Math.max(bits, matchedBits(privacy, address)))
}

function namesIn(address: Address, places: readonly GeoDatabase[]): PlaceNames[] {
  return places.flatMap(({ findNames }) => findNames(address) ?? [])
}

function findOthersIn(address: Address, places: readonly GeoDatabase[]): OtherCountries {
  return joinOthers(places.flatMap(({ findOthers }) => findOthers(address) ?? []))
}

/** How many leading bits of the address decide what a look-up finds in all these databases. */
function matchedBits(databases: readonly GeoDatabase[], address: Address): number {
  return Math.max(0, ...databases.map((database) => database.matchedBits(address)))
}

function retryPause({ failures }: Served): number {
  if (failures === 0) return Number.POSITIVE_INFINITY
  return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS)
}

function checkUsable({ unusable, places }: Served): void {
  if (unusable !== undefined) {
    const { path, remedy } = unusable.file
    throw new Error(`Cannot use the database ${path}: ${unusable.reason}; ${remedy}`)
  }
  if (places.length === 0) throw new Error('Cannot look anything up: no database is usable')
}

/** Opens the files, but keeps those that `before` has open in the same version. */
async function load(
  files: readonly SourceFile[],
  before: Served,
  options: LibraryOptions,
): Promise<Served> {
  const outcomes: Outcome[] = []
  for (const file of files) {
    const old = before.openFiles.find((open) => open.file.path === file.path)
    const isSame = old !== undefined && old.file.version === file.version
    const outcome = isSame
      ? { file, openFile: { ...old, isEarlier: false } }
      : await open(file, old, options)
    outcomes.push(outcome)
  }
  const openFiles = outcomes.flatMap(({ openFile }) => openFile ?? [])
  const places = databasesOf(openFiles, 'place')
  if (before !== NOTHING_SERVED) await runInSlices(warmUp(places))
  const signature = signatureOf(files)
  const refusals = outcomes.filter(({ reason }) => reason !== undefined)
  const earlierFailures = signature === before.signature ? before.failures : 0
  return {
    signature,
    openFiles,
    databases: openFiles.map(({ database }) => database),
    places,
    privacy: databasesOf(openFiles, 'privacy'),
    arePlacesCurrent: refusals.every(({ openFile }) => openFile?.database.subject === 'privacy'),
    unusable: outcomes.find(({ openFile }) => openFile === undefined),
    refused: before.refused + refusals.length,
    failures: refusals.length === 0 ? 0 : earlierFailures + 1,
  }
}

const WARM_UP_LOOK_UPS = 1_000

/**
 * Looks up addresses all over the IPv4 space. The first look-ups in a new file take many times as long as later
 * ones, and requests would wait for them.
 */
function* warmUp(places: readonly GeoDatabase[]): Generator<void, void> {
  for (let i = 0; i < WARM_UP_LOOK_UPS; i++) {
    locate(places, ipv4FromBits(Math.floor((i * 2 ** 32) / WARM_UP_LOOK_UPS)))
    yield
  }
}

function databasesOf(
  openFiles: readonly OpenFile[],
  subject: GeoDatabase['subject'],
): GeoDatabase[] {
  return openFiles.flatMap(({ database }) => (database.subject === subject ? [database] : []))
}

/** If the file is unusable, logs why and keeps an earlier version: the open one or the kept copy. */
async function open(
  file: SourceFile,
  old: OpenFile | undefined,
  { map, regionCode, cacheBits, log, clock = Date.now }: LibraryOptions,
): Promise<Outcome> {
  const { path, name } = file
  const use = (from: string) => openDatabase(from, { map, regionCode, cacheBits, name })
  try {
    const database = await (map ? file.openPrivate(use) : use(path))
    if (old !== undefined) log.info({ path }, 'database replaced')
    const opened = { file, database, openedAt: clock(), isEarlier: false }
    return { file, openFile: { ...old, ...opened } }
  } catch (error) {
    const reason = reasonOf(causeOf(error))
    const earlier = { refusal: { at: clock(), reason }, isEarlier: true }
    log.error({ path, reason }, 'database refused')
    if (old !== undefined) return { file, openFile: { ...old, ...earlier }, reason }
    const database = await file.openLastUsable(use)
    if (database === null) return { file, openFile: undefined, reason }
    log.warn({ path }, 'serving the last usable version of the database')
    const kept = { file: { ...file, version: 'last usable' }, database, openedAt: clock() }
    return { file, openFile: { ...kept, ...earlier }, reason }
  }
}

/** The error that `openDatabase` wraps, because its own message names the copy, not the file. */
function causeOf(error: unknown): unknown {
  return error instanceof Error ? (error.cause ?? error) : error
}

async function adoptAtlas(atlas: AtlasKeeper | undefined, served: Served): Promise<void> {
  // After a refusal the previous file is still served, but an atlas would be made from the new one.
  if (served.arePlacesCurrent) await atlas?.adopt(placeFiles(served))
}

function placeFiles({ openFiles }: Pick<Served, 'openFiles'>): SourceFile[] {
  return openFiles.flatMap(({ file, database }) => (database.subject === 'place' ? [file] : []))
}

function signatureOf(files: readonly SourceFile[]): string {
  return files.map(({ path, version }) => `${path}:${version}`).join('\n')
}
