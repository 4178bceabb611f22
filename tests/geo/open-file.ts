import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type GeoDatabase, openDatabase } from '../../lib/geo/database.ts'
import { mmdbBytes, type Records } from '../support/geo-files.ts'
import { processFolder } from '../support/temp-folder.ts'

let folder: string | undefined
let count = 0

/** Opens a database that has no regions. */
export function openFile(path: string): Promise<GeoDatabase> {
  return openDatabase(path, { map: false, cacheBits: 8, regionCode: () => undefined })
}

/** Opens a new file with these bytes. */
export function openBytes(bytes: Uint8Array): Promise<GeoDatabase> {
  folder ??= processFolder()
  const path = join(folder, `${count++}.mmdb`)
  writeFileSync(path, bytes)
  return openFile(path)
}

/** Opens a new file with these records. */
export function openRecords(records: Records, databaseType: string): Promise<GeoDatabase> {
  return openBytes(mmdbBytes(records, { databaseType }))
}
