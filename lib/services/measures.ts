import { statSync } from 'node:fs'
import { join } from 'node:path'
import { listBackups } from '../backup/backup-folder.ts'
import { countUnsent } from '../billing/overage-store.ts'
import { findLastEventTime } from '../billing/processor-events.ts'
import { countInquiries } from '../contact/inquiry-store.ts'
import type { Measure, Sample } from '../metrics/metrics.ts'
import { INTERFACE_VERSION, VERSION } from '../version.ts'
import type { Downloads } from './downloads.ts'
import type { Services } from './services.ts'

/**
 * What there is to measure of the subjects. Times are told as such and not as ages, in seconds since
 * 1970 and 0 for never, so that an alert on what has not happened needs no second condition.
 */
export function listMeasures(services: Services): Measure[] {
  return [
    ...processMeasures(services),
    ...storageMeasures(services),
    ...geoMeasures(services),
    ...(services.downloads === null ? [] : downloadMeasures(services.downloads)),
    ...trafficMeasures(services),
    ...(services.billing.isConfigured ? billingMeasures(services) : []),
  ]
}

function processMeasures({ health, keys }: Services): Measure[] {
  return [
    {
      name: 'meridian_build_info',
      help: 'Always 1; its labels tell which release this is.',
      labels: ['version', 'interface_version'],
      read: () => one({ version: VERSION, interface_version: INTERFACE_VERSION }, 1),
    },
    {
      name: 'meridian_health',
      help: 'Whether a check of the health passes: 1 or 0.',
      labels: ['check'],
      read: () => byLabel('check', Object.entries(health.read().checks)),
    },
    {
      name: 'meridian_keys',
      help: 'API keys in memory, expired ones included.',
      read: () => keys.size(),
    },
  ]
}

function storageMeasures({ config, flusher }: Services): Measure[] {
  const database = join(config.dataDir, 'app.db')
  return [
    {
      name: 'meridian_flush_lag_seconds',
      help: 'How long counters have waited at most to be written; about 1 at work.',
      read: () => flusher.lagMs() / 1_000,
    },
    {
      name: 'meridian_flush_waiting',
      help: 'Counters and buckets that wait to be written.',
      read: () => flusher.size(),
    },
    {
      name: 'meridian_database_bytes',
      help: 'Size of the database file.',
      read: () => sizeOf(database),
    },
    {
      name: 'meridian_database_wal_bytes',
      help: 'Size of the write-ahead log.',
      read: () => sizeOf(`${database}-wal`),
    },
    {
      name: 'meridian_backup_timestamp_seconds',
      help: 'When the latest backup in the folder of backups was made; 0: there is none.',
      read: async () => ((await listBackups(config.backupDir))[0]?.createdAt ?? 0) / 1_000,
    },
  ]
}

function geoMeasures({ geo }: Services): Measure[] {
  return [
    {
      name: 'meridian_geo_build_timestamp_seconds',
      help: 'When the data of a geolocation database was built.',
      labels: ['database', 'provider'],
      read: () =>
        geo.list().map(({ name, provider, metadata }) => ({
          labels: { database: name, provider },
          value: metadata.builtAt / 1_000,
        })),
    },
    {
      name: 'meridian_geo_refused_total',
      help: 'Database files that were refused since the start; the old ones stay.',
      read: () => geo.refused(),
    },
    {
      name: 'meridian_geo_atlas',
      help: 'Whether look-ups use the databases merged beforehand: 1 or 0.',
      read: () => Number(geo.hasAtlas()),
    },
  ]
}

function downloadMeasures(downloads: Downloads): Measure[] {
  return [
    {
      name: 'meridian_geo_download_timestamp_seconds',
      help: 'When the providers were last asked for databases with success; 0: never.',
      read: () => downloads.last().succeededAt / 1_000,
    },
    {
      name: 'meridian_geo_download_failed_timestamp_seconds',
      help: 'When that last failed since the start; 0: never.',
      read: () => downloads.last().failedAt / 1_000,
    },
  ]
}

function trafficMeasures({ db, rum }: Services): Measure[] {
  return [
    {
      name: 'meridian_rum_beacons_total',
      help: 'Beacons by what became of them; those refused before are counted as requests alone.',
      labels: ['result'],
      read: () => byLabel('result', Object.entries(rum.beacons)),
    },
    {
      name: 'meridian_rum_beacons_waiting',
      help: 'Beacons that wait to be on the disk.',
      read: () => rum.waiting(),
    },
    {
      name: 'meridian_inquiries',
      help: 'Inquiries by state; dead ones are up to the operator: npm run contact.',
      labels: ['state'],
      read: () => {
        const found = countInquiries(db)
        const states = ['waiting', 'dead', 'kept'] as const
        return states.flatMap((state) => one({ state }, found.get(state) ?? 0))
      },
    },
  ]
}

function billingMeasures({ db, reconciliation }: Services): Measure[] {
  return [
    {
      name: 'meridian_webhook_last_event_timestamp_seconds',
      help: 'When the last event of the payment processor came that was of use; 0: never.',
      read: () => (findLastEventTime(db) ?? 0) / 1_000,
    },
    {
      name: 'meridian_reconciliation_timestamp_seconds',
      help: 'When the last comparison with the payment processor ended, and the last without trouble.',
      labels: ['outcome'],
      read: () => {
        const { endedAt, succeededAt } = reconciliation.last()
        return [
          ...one({ outcome: 'any' }, endedAt / 1_000),
          ...one({ outcome: 'success' }, succeededAt / 1_000),
        ]
      },
    },
    {
      name: 'meridian_overage_reports_unsent',
      help: 'Reports of overages that are not known to have arrived, and those among them refused.',
      labels: ['state'],
      read: () => {
        const { unsent, refused } = countUnsent(db)
        return [
          ...one({ state: 'waiting' }, unsent - refused),
          ...one({ state: 'refused' }, refused),
        ]
      },
    },
  ]
}

function one(labels: Sample['labels'], value: number): Sample[] {
  return [{ labels, value }]
}

function byLabel(name: string, entries: readonly [string, number | boolean][]): Sample[] {
  return entries.map(([key, value]) => ({ labels: { [name]: key }, value: Number(value) }))
}

/** 0 where there is no such file: the write-ahead log comes with the first write. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
