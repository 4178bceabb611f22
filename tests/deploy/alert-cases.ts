/** Series of a Meridian, and whether they make an alert fire. */
export interface AlertCase {
  readonly alert: string
  /** How far the values of a series are apart, and how often the rules are evaluated. */
  readonly every: '1m' | '30m'
  /** When to look, after the beginning of the series, which is 1970-01-01. */
  readonly at: string
  /** Values in the notation of promtool: `2x3` is 2 four times, `0+5x3` counts up. */
  readonly series: Readonly<Record<string, string>>
  /** Labels of the alert that fires; absent: it does not fire. */
  readonly fires?: Readonly<Record<string, string>>
}

const INSTANCE = { instance: 'one' }
const TARGET = { instance: 'one', job: 'meridian' }
const REQUESTS = 'http_server_request_duration_seconds_count'
const OVERAGES = 'meridian_overage_reports_unsent'

/** Half hours: four days, and then some. */
const DAYS = 200
const ONE_DAY_AGO = 3 * 86_400
const LIMIT = 128 * 1024 * 1024

const DATABASE = 'meridian_health{check="database"}'
const GEOLOCATION = 'meridian_health{check="geolocation"}'
const LAG = 'meridian_flush_lag_seconds'
const LOG = 'meridian_database_wal_bytes'
const COPY = 'meridian_copy_timestamp_seconds'
const DEAD = 'meridian_inquiries{state="dead"}'
const WAITING = 'meridian_inquiries{state="waiting"}'
const UNSENT_REFUSED = `${OVERAGES}{state="refused"}`
const UNSENT_WAITING = `${OVERAGES}{state="waiting"}`

type Row = readonly [alert: string, at: string, AlertCase['series'], fires?: AlertCase['fires']]

const MINUTES: readonly Row[] = [
  ['MeridianDown', '2m', { up: '0x5' }, TARGET],
  ['MeridianDown', '1m', { up: '0x5' }],
  ['MeridianDown', '5m', { up: '0 0 1x5' }],
  ['MeridianErrors', '15m', errors({ good: '0+98x20', bad: '0+2x20' }), INSTANCE],
  ['MeridianErrors', '15m', errors({ good: '0+99x20', bad: '0+1x20' })],
  ['MeridianErrors', '15m', errors({ good: '0x20', bad: '0x20' })],
  ['MeridianDoesNotWrite', '2m', { [LAG]: '11x5' }, TARGET],
  ['MeridianDoesNotWrite', '2m', { [DATABASE]: '0x5' }, { ...TARGET, check: 'database' }],
  ['MeridianDoesNotWrite', '5m', { [LAG]: '10x5', [DATABASE]: '1x5', [GEOLOCATION]: '0x5' }],
  ['MeridianLogGrows', '10m', { [LOG]: `${LIMIT + 1}x20` }, TARGET],
  ['MeridianLogGrows', '20m', { [LOG]: `${LIMIT}x20` }],
  ['MeridianCopyOld', '7m', { [COPY]: '0x20' }, TARGET],
  ['MeridianCopyOld', '20m', { [COPY]: '0+60x20' }],
  ['MeridianInquiriesDead', '0m', { [DEAD]: '1' }, { ...TARGET, state: 'dead' }],
  ['MeridianInquiriesDead', '5m', { [DEAD]: '0x5', [WAITING]: '9x5' }],
  ['MeridianOveragesRefused', '0m', { [UNSENT_REFUSED]: '1' }, { ...TARGET, state: 'refused' }],
  ['MeridianOveragesRefused', '5m', { [UNSENT_REFUSED]: '0x5', [UNSENT_WAITING]: '9x5' }],
]

export const ALERT_CASES: readonly AlertCase[] = [
  ...MINUTES.map(([alert, at, series, fires]): AlertCase => {
    return { alert, at, series, every: '1m', ...(fires && { fires }) }
  }),
  ...ages('MeridianGeoOld', 'meridian_geo_download_timestamp_seconds'),
  ...dataAges(),
  ...ages('MeridianBackupOld', 'meridian_backup_timestamp_seconds'),
]

/** Requests by result: their counters. */
function errors({ good, bad }: { readonly good: string; readonly bad: string }) {
  return {
    [`${REQUESTS}{http_response_status_code="200"}`]: good,
    [`${REQUESTS}{http_response_status_code="503"}`]: bad,
  }
}

/** What never happened fires after some days; what happened a day ago does not. */
function ages(alert: string, metric: string): AlertCase[] {
  const one = { alert, every: '30m' } as const
  return [
    { ...one, at: '4d', series: { [metric]: `0x${DAYS}` }, fires: TARGET },
    { ...one, at: '4d', series: { [metric]: `${ONE_DAY_AGO}x${DAYS}` } },
    { ...one, at: '1d', series: { [metric]: `0x${DAYS}` } },
  ]
}

/** What is 46 days old fires, whether or not the server downloads; what only its owner changes does not. */
function dataAges(): AlertCase[] {
  const alert = 'MeridianGeoDataOld'
  const built = (database: string) =>
    `meridian_geo_build_timestamp_seconds{database="${database}",provider="x"}`
  const one = { alert, every: '30m', at: '46d' } as const
  const labels = { ...TARGET, database: 'asn', provider: 'x' }
  return [
    { ...one, series: { [built('asn')]: `0x${46 * 48}` }, fires: labels },
    { ...one, series: { [built('asn')]: `${2 * 86_400}x${46 * 48}` } },
    { ...one, series: { [built('overlay')]: `0x${46 * 48}`, [built('geofeeds')]: `0x${46 * 48}` } },
  ]
}

/** The name of a series with the labels that Prometheus adds to those of a target. */
export function ofTarget(series: string): string {
  const [name, labels] = series.split(/[{}]/)
  const all = [...(labels === undefined ? [] : [labels]), 'instance="one"', 'job="meridian"']
  return `${name}{${all.join(',')}}`
}
