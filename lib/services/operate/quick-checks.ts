import { join } from 'node:path'
import { listBackups } from '../../backup/backup-folder.ts'
import type { Config } from '../../config/config.ts'
import {
  checkBackups,
  checkDownloads,
  checkGeo,
  checkTimezones,
  type GeoFile,
} from '../../doctor/check-age.ts'
import { checkConfig } from '../../doctor/check-config.ts'
import { checkDisk, readDisk } from '../../doctor/check-disk.ts'
import { checkFolder } from '../../doctor/check-folder.ts'
import { checkGeofeeds } from '../../doctor/check-geofeeds.ts'
import { checkLists } from '../../doctor/check-lists.ts'
import { checkReplication } from '../../doctor/check-replication.ts'
import { type Check, type Finding, wrongIfThrows } from '../../doctor/finding.ts'
import { hasLitestream, readReplication } from '../../doctor/replication.ts'
import { timezoneData } from '../../geo/answer/timezones.ts'
import { findLastDownload } from '../../geo/download/last-download.ts'
import { findGeofeeds } from '../../geo/geofeeds/find-geofeeds.ts'
import { readGeofeedStates } from '../../geo/geofeeds/geofeed-states.ts'
import { triedLists } from '../../geo/network-lists/list-states.ts'
import { isDownloading, renewalOf } from '../geo/downloads.ts'
import type { AccountOrigin } from '../geo/maxmind-account.ts'

interface Checked {
  readonly config: Config
  /** The databases that a server serves, or would serve. */
  readonly readGeoFiles: () => Promise<readonly GeoFile[]>
  readonly findAccount: () => Promise<AccountOrigin>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * The checks that take milliseconds and ask no other host. The doctor runs them, and so does a server for its
 * operators' first page.
 */
export function quickChecks(checked: Checked): Check[] {
  const { config, now } = checked
  const { dataDir, postgres, replicated } = config
  const checks: Check[] = [
    { name: 'Settings', find: async () => checkConfig(config) },
    { name: 'Folder', find: async () => checkFolder(dataDir) },
    { name: 'Disk', find: async () => checkDisk(diskOf(config)) },
    { name: 'Geo files', find: () => findGeo(checked) },
    { name: 'Backups', find: () => findBackups(config, now()) },
  ]
  // The shell of an operator may lack the setting, which scripts/with-litestream.sh makes.
  if (postgres === undefined && (replicated || hasLitestream(dataDir))) {
    const find = async () => [checkReplication(await readReplication(dataDir), now())]
    checks.push({ name: 'Copy', find })
  }
  return checks
}

/** On PostgreSQL, a database file in the data folder is not in use. */
function diskOf({ dataDir, postgres }: Config) {
  const disk = readDisk(dataDir)
  return postgres === undefined ? disk : { ...disk, database: 0, log: 0 }
}

async function findGeo({ config, readGeoFiles, findAccount, now }: Checked): Promise<Finding[]> {
  const directory = join(config.dataDir, 'geo')
  const found = [
    ...checkGeo(await readGeoFiles(), renewalOf(config, await findAccount()), now()),
    ...checkLists(triedLists(directory), now()),
    ...geofeedFindings(config, now()),
    checkTimezones(timezoneData()),
  ]
  if (!isDownloading(config)) return found
  return [...found, checkDownloads(findLastDownload(directory, now()), now())]
}

function geofeedFindings({ dataDir, geo }: Config, now: number): Finding[] {
  const { geofeeds } = geo
  if (geofeeds.length === 0) return []
  const unusable = wrongIfThrows(
    () => findGeofeeds(geofeeds),
    'repair what MERIDIAN_GEOFEEDS names',
  )
  return [...unusable, ...checkGeofeeds(readGeofeedStates(join(dataDir, 'geo')).feeds, now)]
}

async function findBackups({ backupDir, postgres }: Config, now: number): Promise<Finding[]> {
  const [latest] = await listBackups(backupDir)
  // Another machine may make those of a shared database.
  if (postgres !== undefined && latest === undefined) return []
  return [checkBackups(backupDir, latest?.createdAt, now)]
}
