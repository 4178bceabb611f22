import { relative } from 'node:path'
import { openDatabase } from '../lib/geo/database.ts'
import type { SourceFile } from '../lib/geo/source-files.ts'

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
  return { table: formatTable(rows), refusals }
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

/** The day of epoch milliseconds: 2026-01-31. */
export function isoDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

function shortPath(path: string): string {
  const inside = relative('', path)
  return inside.startsWith('..') ? path : inside
}

const COLUMNS = [
  { title: 'Name', align: 'left' },
  { title: 'Provider', align: 'left' },
  { title: 'Type', align: 'left' },
  { title: 'IP', align: 'right' },
  { title: 'Records', align: 'right' },
  { title: 'Built', align: 'left' },
  { title: 'Size', align: 'right' },
  { title: 'File', align: 'left' },
] as const

function formatTable(rows: readonly (readonly string[])[]): string {
  const lines = [COLUMNS.map(({ title }) => title), ...rows]
  const columns = COLUMNS.map(({ align }, at) => ({
    align,
    width: Math.max(...lines.map((cells) => cells[at]?.length ?? 0)),
  }))
  const pad = (cells: readonly string[]) =>
    columns.map(({ align, width }, at) => {
      const cell = cells[at] ?? ''
      return align === 'right' ? cell.padStart(width) : cell.padEnd(width)
    })
  return lines.map((cells) => `${pad(cells).join('  ').trimEnd()}\n`).join('')
}
