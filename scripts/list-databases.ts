import { relative } from 'node:path'
import { openDatabase } from '../lib/geo/database.ts'
import type { SourceFile } from '../lib/geo/source-files.ts'
import { type Column, textTable } from './text-table.ts'
import { isoDay } from './times.ts'

export interface Listing {
  /** One line of titles and one per database, in order of priority. */
  readonly table: string
  /** Why files are not served. */
  readonly refusals: readonly string[]
}

/** Opens each of `files` as a server would, and describes those that it would serve. */
export async function listDatabases(files: readonly SourceFile[]): Promise<Listing> {
  const rows: string[][] = []
  const refusals: string[] = []
  for (const file of files) {
    try {
      rows.push(await describe(file))
    } catch (error) {
      refusals.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { table: textTable(COLUMNS, rows), refusals }
}

async function describe({ path, name }: SourceFile): Promise<string[]> {
  const database = await openDatabase(path, { map: false, regionCode: () => undefined, name })
  const { databaseType, ipVersion, builtAt } = database.metadata
  return [
    name,
    database.provider,
    databaseType,
    String(ipVersion),
    database.countRecords().toLocaleString('en-US'),
    isoDay(builtAt),
    sizeText(database.bytes),
    shortPath(path),
  ]
}

function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

function shortPath(path: string): string {
  const inside = relative('', path)
  return inside.startsWith('..') ? path : inside
}

const COLUMNS: readonly Column[] = [
  { title: 'Name', align: 'left' },
  { title: 'Provider', align: 'left' },
  { title: 'Type', align: 'left' },
  { title: 'IP', align: 'right' },
  { title: 'Records', align: 'right' },
  { title: 'Built', align: 'left' },
  { title: 'Size', align: 'right' },
  { title: 'File', align: 'left' },
]
