import type { Address } from '../address.ts'
import type { Log } from '../log.ts'
import { type AtlasKeeper, NO_ATLAS } from './atlas-keeper.ts'
import { type GeoDatabase, openDatabase } from './database.ts'
import type { Describable } from './describe.ts'
import { type Located, locate } from './locate.ts'
import type { RegionCode } from './schemas/schema.ts'
import type { SourceFile } from './source-files.ts'

/** The open databases. A file that is replaced is taken over while look-ups go on. */
export interface Library {
  locate(address: Address): Located
  /** The same as far as an answer needs it; of most addresses merged beforehand. */
  find(address: Address): Describable
  /** In order of priority. */
  list(): readonly GeoDatabase[]
  /** Opens what has changed since; what cannot be used is logged, and the old one stays. */
  refresh(): Promise<void>
  /** Databases refused so far. */
  refused(): number
  /** Whether the merged databases are in use. */
  hasAtlas(): boolean
}

export interface LibraryOptions {
  /** Says which files there are now, in order of priority. */
  readonly findFiles: () => readonly SourceFile[]
  readonly map: boolean
  readonly cacheBits?: number | undefined
  readonly regionCode: RegionCode
  readonly log: Log
  readonly atlas?: AtlasKeeper
}

interface Shelf {
  readonly file: SourceFile
  readonly database: GeoDatabase
}

/** Opens all usable databases. Throws where there is none at all. */
export async function openLibrary(options: LibraryOptions): Promise<Library> {
  const { findFiles, log, atlas = NO_ATLAS } = options
  let refused = 0
  let signature = ''
  let seen = ''
  let shelves: readonly Shelf[] = []
  let databases: readonly GeoDatabase[] = []

  const load = async (files: readonly SourceFile[]) => {
    const known = new Map(shelves.map((shelf) => [shelf.file.path, shelf]))
    const next: Shelf[] = []
    for (const file of files) {
      const old = known.get(file.path)
      const shelf = old?.file.version === file.version ? old : await open(file, old)
      if (shelf !== undefined) next.push(shelf)
    }
    signature = signatureOf(files)
    shelves = next
    databases = next.map(({ database }) => database)
    atlas.drop()
  }
  const open = async (file: SourceFile, old: Shelf | undefined): Promise<Shelf | undefined> => {
    try {
      const database = await openSource(file, options)
      if (old !== undefined) log.info({ path: file.path }, 'database replaced')
      return { file, database }
    } catch (error) {
      refused++
      log.error({ path: file.path, reason: reasonOf(error) }, 'database refused')
      return old
    }
  }

  const adoptAtlas = async () => {
    const files = shelves.map(({ file }) => file)
    // Of a file that was refused the old one is served, which its name and version do not tell.
    if (signatureOf(files) === signature) await atlas.adopt(files)
  }

  await load(findFiles())
  if (databases.length === 0) throw new Error('Cannot look anything up: no database is usable')
  await adoptAtlas()
  return {
    locate: (address) => locate(databases, address),
    find: (address) => atlas.find(address) ?? locate(databases, address),
    list: () => databases,
    refused: () => refused,
    hasAtlas: () => atlas.isOpen(),
    refresh: async () => {
      const files = findFiles()
      const current = signatureOf(files)
      const settled = current === seen
      seen = current
      // A file that still changes is being written: wait until it is the same twice.
      if (settled && current !== signature) await load(files)
      await adoptAtlas()
    },
  }
}

async function openSource(file: SourceFile, { map, regionCode, cacheBits }: LibraryOptions) {
  const path = map ? await file.privatePath() : file.path
  return openDatabase(path, { map, regionCode, cacheBits, name: file.name })
}

function signatureOf(files: readonly SourceFile[]): string {
  return files.map(({ path, version }) => `${path}:${version}`).join('\n')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
