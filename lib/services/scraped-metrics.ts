import { statSync } from 'node:fs'
import { join } from 'node:path'
import { listBackups } from '../backup/backup-folder.ts'
import { findLastEventTime } from '../billing/events/received-events.ts'
import { countUnsent } from '../billing/overages/overage-store.ts'
import { INTERFACE_VERSION, VERSION } from '../config/version.ts'
import { inquiryStore } from '../contact/delivery-store.ts'
import { readReplication } from '../doctor/replication.ts'
import { commandText } from '../parts/clone-or-package.ts'
import type { Sample, ScrapedMetric } from '../parts/metrics/metrics.ts'
import type { Downloads } from './geo/downloads.ts'
import { describeGeofeeds, describeLists } from './operate/databases.ts'
import type { Services } from './services.ts'

/**
 * The metrics of all subjects. Times are timestamps in seconds since 1970, not ages; 0 means never.
 * So an alert on something that happened long ago also covers something that never happened.
 */
export function listScrapedMetrics(services: Services): ScrapedMetric[] {
  return [
    ...processMetrics(services),
    ...storageMetrics(services),
    ...(services.config.replicated ? copyMetrics(services) : []),
    ...geoMetrics(services),
    ...(services.downloads?.isRegular ? downloadMetrics(services.downloads) : []),
    ...trafficMetrics(services),
    ...(services.billing.isConfigured ? billingMetrics(services) : []),
  ]
}

function processMetrics({ health, keys }: Services): ScrapedMetric[] {
  return [
    {
      name: 'meridian_build_info',
      help: 'Always 1; its labels name the release.',
      labels: ['version', 'interface_version'],
      read: () => [
        { labels: { version: VERSION, interface_version: INTERFACE_VERSION }, value: 1 },
      ],
    },
    {
      name: 'meridian_health',
      help: 'Whether a health check passes: 1 or 0.',
      labels: ['check'],
      read: async () => byLabel('check', Object.entries((await health.read()).checks)),
    },
    {
      name: 'meridian_keys',
      help: 'API keys in memory, including expired ones.',
      read: () => keys.size(),
    },
  ]
}

function storageMetrics({ config, ledger }: Services): ScrapedMetric[] {
  const database = join(config.dataDir, 'app.db')
  return [
    {
      name: 'meridian_flush_lag_seconds',
      help: 'The longest time that a counter has waited to be written; about 1 under load.',
      read: () => ledger.lagMs / 1_000,
    },
    {
      name: 'meridian_flush_waiting',
      help: 'Counters and buckets waiting to be written.',
      read: () => ledger.size,
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
      help: 'When the latest backup in the backup folder was made; 0 if there is none.',
      read: async () => ((await listBackups(config.backupDir))[0]?.createdAt ?? 0) / 1_000,
    },
  ]
}

function copyMetrics({ config }: Services): ScrapedMetric[] {
  return [
    {
      name: 'meridian_copy_timestamp_seconds',
      help: 'When Litestream last completed the copy of the database; 0 if not since it started.',
      read: async () => {
        const replication = await readReplication(config.dataDir)
        return 'problem' in replication ? 0 : replication.syncedAt / 1_000
      },
    },
  ]
}

function geoMetrics(services: Services): ScrapedMetric[] {
  const { geo } = services
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
      help: 'Database files refused since the start; the old ones stay in use.',
      read: () => geo.refused(),
    },
    {
      name: 'meridian_geo_list_timestamp_seconds',
      help: 'When the version of a free list in use was last up to date; 0 if never.',
      labels: ['list'],
      read: () => {
        const lists = describeLists(services)
        return byLabel(
          'list',
          lists.map(({ id, checkedAt = 0 }) => [id, checkedAt / 1_000]),
        )
      },
    },
    {
      name: 'meridian_geo_geofeed_timestamp_seconds',
      help: 'When the version of a geofeed in use was last up to date; 0 if never.',
      labels: ['source'],
      read: () =>
        byLabel(
          'source',
          describeGeofeeds(services).map(({ source, checkedAt = 0 }) => [
            source,
            checkedAt / 1_000,
          ]),
        ),
    },
    {
      name: 'meridian_geo_geofeed_entries',
      help: 'Entries of a geofeed: used, outside its blocks, or bad.',
      labels: ['source', 'result'],
      read: () =>
        describeGeofeeds(services).flatMap(({ source, entries = 0, outside = 0, bad = 0 }) =>
          Object.entries({ used: entries, outside, bad }).map(([result, value]) => ({
            labels: { source, result },
            value,
          })),
        ),
    },
    {
      name: 'meridian_geo_atlas',
      help: 'Whether look-ups use the atlas, the databases combined in one file: 1 or 0.',
      read: () => Number(geo.hasAtlas()),
    },
  ]
}

function downloadMetrics(downloads: Downloads): ScrapedMetric[] {
  return [
    {
      name: 'meridian_geo_download_timestamp_seconds',
      help: 'When databases were last downloaded from the providers successfully; 0 if never.',
      read: () => downloads.last().succeededAt / 1_000,
    },
    {
      name: 'meridian_geo_download_failed_timestamp_seconds',
      help: 'When a download last failed since the start; 0 if never.',
      read: () => downloads.last().failedAt / 1_000,
    },
  ]
}

function trafficMetrics({ db, rum }: Services): ScrapedMetric[] {
  return [
    {
      name: 'meridian_rum_beacons_total',
      help: 'Beacons by result; invalid and rate-limited ones count only as requests.',
      labels: ['result'],
      read: () => byLabel('result', Object.entries(rum.beacons)),
    },
    {
      name: 'meridian_rum_beacons_waiting',
      help: 'Beacons waiting to be written to disk.',
      read: () => rum.waiting(),
    },
    {
      name: 'meridian_inquiries',
      help: `Inquiries by state; dead ones need the operator: ${commandText('contact')}.`,
      labels: ['state'],
      read: async () => {
        const found = await inquiryStore.count(db)
        const states = ['waiting', 'dead', 'kept'] as const
        return byLabel(
          'state',
          states.map((state) => [state, found.get(state) ?? 0]),
        )
      },
    },
  ]
}

function billingMetrics({ db, reconciliation }: Services): ScrapedMetric[] {
  return [
    {
      name: 'meridian_webhook_last_event_timestamp_seconds',
      help: 'When the last relevant event arrived from Stripe; 0 if never.',
      read: async () => ((await findLastEventTime(db)) ?? 0) / 1_000,
    },
    {
      name: 'meridian_reconciliation_timestamp_seconds',
      help: 'When the last comparison with Stripe ended, and when the last one succeeded.',
      labels: ['outcome'],
      read: () => {
        const { endedAt, succeededAt } = reconciliation.last()
        return byLabel('outcome', [
          ['any', endedAt / 1_000],
          ['success', succeededAt / 1_000],
        ])
      },
    },
    {
      name: 'meridian_overage_reports_unsent',
      help: 'Overage reports that Stripe has not confirmed: waiting or refused.',
      labels: ['state'],
      read: async () => {
        const { unsent, refused } = await countUnsent(db)
        return byLabel('state', [
          ['waiting', unsent - refused],
          ['refused', refused],
        ])
      },
    },
  ]
}

function byLabel(name: string, entries: readonly [string, number | boolean][]): Sample[] {
  return entries.map(([key, value]) => ({ labels: { [name]: key }, value: Number(value) }))
}

/** 0 if the file does not exist: the first write creates the write-ahead log. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
