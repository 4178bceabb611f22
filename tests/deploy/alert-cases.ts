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

const MINUTES: readonly Omit<AlertCase, 'every'>[] = [
  { alert: 'MeridianDown', at: '2m', series: { up: '0x5' }, fires: TARGET },
  { alert: 'MeridianDown', at: '1m', series: { up: '0x5' } },
  { alert: 'MeridianDown', at: '5m', series: { up: '0 0 1x5' } },
  {
    alert: 'MeridianErrors',
    at: '15m',
    series: errors({ good: '0+98x20', bad: '0+2x20' }),
    fires: INSTANCE,
  },
  { alert: 'MeridianErrors', at: '15m', series: errors({ good: '0+99x20', bad: '0+1x20' }) },
  { alert: 'MeridianErrors', at: '15m', series: errors({ good: '0x20', bad: '0x20' }) },
  {
    alert: 'MeridianDoesNotWrite',
    at: '2m',
    series: { meridian_flush_lag_seconds: '11x5' },
    fires: TARGET,
  },
  {
    alert: 'MeridianDoesNotWrite',
    at: '2m',
    series: { 'meridian_health{check="database"}': '0x5' },
    fires: { ...TARGET, check: 'database' },
  },
  {
    alert: 'MeridianDoesNotWrite',
    at: '5m',
    series: {
      meridian_flush_lag_seconds: '10x5',
      'meridian_health{check="database"}': '1x5',
      'meridian_health{check="geolocation"}': '0x5',
    },
  },
  {
    alert: 'MeridianLogGrows',
    at: '10m',
    series: { meridian_database_wal_bytes: `${LIMIT + 1}x20` },
    fires: TARGET,
  },
  {
    alert: 'MeridianLogGrows',
    at: '20m',
    series: { meridian_database_wal_bytes: `${LIMIT}x20` },
  },
  {
    alert: 'MeridianCopyOld',
    at: '7m',
    series: { meridian_copy_timestamp_seconds: '0x20' },
    fires: TARGET,
  },
  {
    alert: 'MeridianCopyOld',
    at: '20m',
    series: { meridian_copy_timestamp_seconds: '0+60x20' },
  },
  {
    alert: 'MeridianInquiriesDead',
    at: '0m',
    series: { 'meridian_inquiries{state="dead"}': '1' },
    fires: { ...TARGET, state: 'dead' },
  },
  {
    alert: 'MeridianInquiriesDead',
    at: '5m',
    series: {
      'meridian_inquiries{state="dead"}': '0x5',
      'meridian_inquiries{state="waiting"}': '9x5',
    },
  },
  {
    alert: 'MeridianOveragesRefused',
    at: '0m',
    series: { [`${OVERAGES}{state="refused"}`]: '1' },
    fires: { ...TARGET, state: 'refused' },
  },
  {
    alert: 'MeridianOveragesRefused',
    at: '5m',
    series: { [`${OVERAGES}{state="refused"}`]: '0x5', [`${OVERAGES}{state="waiting"}`]: '9x5' },
  },
]

export const ALERT_CASES: readonly AlertCase[] = [
  ...MINUTES.map((one) => ({ ...one, every: '1m' as const })),
  ...ages('MeridianGeoOld', 'meridian_geo_download_timestamp_seconds'),
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

/** The name of a series with the labels that Prometheus adds to those of a target. */
export function ofTarget(series: string): string {
  const [name, labels] = series.split(/[{}]/)
  const all = [...(labels === undefined ? [] : [labels]), 'instance="one"', 'job="meridian"']
  return `${name}{${all.join(',')}}`
}
