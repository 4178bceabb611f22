import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Config } from '../../lib/config/config.ts'
import { type GeoDatabase, openDatabase } from '../../lib/geo/database.ts'
import type { SourceFile } from '../../lib/geo/files/source-files.ts'
import { findSourceFiles } from '../../lib/geo/open-geo.ts'
import { reasonOf } from '../../lib/parts/reason.ts'
import { sizeText } from '../../lib/parts/size-text.ts'
import { textTable } from './text-table.ts'
import { isoDay } from './times.ts'

/** Names, sizes and build times of the databases that a server would serve, or their problems. */
export function readGeoFiles({ dataDir, geo }: Config) {
  const files = findSourceFiles({ directory: join(dataDir, 'geo'), ...geo })
  return openEach(files, ({ provider, bytes, metadata }, { name }) => {
    return { name, provider, bytes, builtAt: new Date(metadata.builtAt).toISOString() }
  })
}

/** The databases that can be served, and why each of the others cannot. Times are epoch milliseconds. */
export type ListedDatabase = Awaited<ReturnType<typeof listDatabases>>[number]

export async function listDatabases(files: readonly SourceFile[]) {
  return openEach(files, (database, { name, path }) => {
    const { provider, bytes, metadata } = database
    const { databaseType, ipVersion, builtAt } = metadata
    const records = database.countRecords()
    return { name, path, provider, databaseType, ipVersion, records, builtAt, bytes }
  })
}

/** A table of the databases that can be served, and the problems of the others. */
export function tableOfDatabases(found: readonly ListedDatabase[]) {
  const problems = found.flatMap((file) => ('problem' in file ? [file.problem] : []))
  const table = textTable(
    found.flatMap((file) => ('problem' in file ? [] : [file])),
    {
      Name: (file) => file.name,
      Provider: (file) => file.provider,
      Type: (file) => file.databaseType,
      IP: (file) => String(file.ipVersion),
      Records: (file) => file.records.toLocaleString('en-US'),
      Built: (file) => isoDay(file.builtAt),
      Size: (file) => sizeText(file.bytes),
      File: (file) => shortPath(file.path),
    },
    ['IP', 'Records', 'Size'],
  )
  return { table, problems }
}

/** Opens each file as a server would, in order of priority. Keeps none in memory. */
function openEach<Result>(
  files: readonly SourceFile[],
  read: (database: GeoDatabase, file: SourceFile) => Result,
) {
  return Array.fromAsync(files, async (file) => {
    const { path, name, openLastUsable, isPrepared } = file
    const options = { map: false, regionCode: () => undefined, cacheBits: 1, name }
    const open = (from: string) => openDatabase(from, options)
    try {
      return read(await open(path), file)
    } catch (error) {
      /** Whether a server has kept its last usable version, which it would serve. */
      const hasLastUsable = (await openLastUsable(open)) !== null
      return {
        name,
        problem: reasonOf(error),
        hasLastUsable,
        isAwaited: !existsSync(path) && isPrepared,
      }
    }
  })
}

function shortPath(path: string): string {
  const inside = relative('', path)
  return inside.startsWith('..') ? path : inside
}
