import { OPTIONAL } from '../files/source-files.ts'
import { unpackGzip, unpackTar } from './unpack.ts'

/** An address at which a provider publishes a file. */
export interface Offer {
  readonly url: string
  /** A database built since then is this file or a newer one; epoch milliseconds. */
  readonly builtSince?: number
}

/** A database file that a provider offers for download. */
export interface DownloadSource {
  readonly name: string
  /** File name of the database in the geo folder. */
  readonly file: string
  /** File name of the archive. */
  readonly archive: string
  /** Tried in order until one exists. */
  readonly offers: readonly Offer[]
  readonly headers: Readonly<Record<string, string>>
  /** URL of the archive's SHA-256; absent if the archive has its own checksum. */
  readonly checksumUrl?: string
  /** Explanations of error statuses. */
  readonly hints: ReadonlyMap<number, string>
  /** Writes the database in the archive to a path; throws if the archive is damaged. */
  unpack(archive: string, path: string): Promise<void>
}

export interface Providers {
  readonly maxmindUrl: string
  readonly maxmindAccountId: string | undefined
  readonly maxmindLicenseKey: string | undefined
  readonly dbipUrl: string
}

/**
 * The files to download; MaxMind's only with an account. DB-IP's URLs name the month of `now` and the
 * month before.
 */
export function downloadSources(providers: Providers, now: number): DownloadSource[] {
  return [...maxmindSources(providers), dbipSource(providers.dbipUrl, now)]
}

/** Whether MaxMind's files can be downloaded. */
export function hasAccount({ maxmindAccountId, maxmindLicenseKey }: Providers): boolean {
  return maxmindAccountId !== undefined && maxmindLicenseKey !== undefined
}

const WRONG_ACCOUNT = "the id or the licence key of MaxMind's account is wrong"
const MAXMIND_HINTS = new Map([
  [401, WRONG_ACCOUNT],
  [403, WRONG_ACCOUNT],
  [429, 'the account has reached its daily download limit'],
])

/** https://dev.maxmind.com/geoip/updating-databases/#directly-downloading-databases */
function maxmindSources(providers: Providers): DownloadSource[] {
  if (!hasAccount(providers)) return []
  const { maxmindUrl, maxmindAccountId, maxmindLicenseKey } = providers
  const credentials = Buffer.from(`${maxmindAccountId}:${maxmindLicenseKey}`).toString('base64')
  const source = (edition: string, file: string): DownloadSource => ({
    name: edition.replace('-', ' '),
    file,
    archive: `${edition}.tar.gz`,
    offers: [{ url: `${maxmindUrl}/geoip/databases/${edition}/download?suffix=tar.gz` }],
    headers: { authorization: `Basic ${credentials}` },
    checksumUrl: `${maxmindUrl}/geoip/databases/${edition}/download?suffix=tar.gz.sha256`,
    hints: MAXMIND_HINTS,
    unpack: unpackTar,
  })
  return [
    source('GeoLite2-City', OPTIONAL.downloadedMaxmindCity),
    source('GeoLite2-ASN', OPTIONAL.downloadedMaxmindAsn),
  ]
}

/** Each month's file appears in the first days of that month: https://db-ip.com/db/lite.php */
function dbipSource(dbipUrl: string, now: number): DownloadSource {
  const date = new Date(now)
  const months = [0, 1].map((ago) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - ago))
  const url = (month: number) =>
    `${dbipUrl}/free/dbip-city-lite-${new Date(month).toISOString().slice(0, 7)}.mmdb.gz`
  return {
    name: 'DB-IP City Lite',
    file: OPTIONAL.downloadedDbipCity,
    archive: 'dbip-city-lite.mmdb.gz',
    offers: months.map((month) => ({ url: url(month), builtSince: month })),
    headers: {},
    hints: new Map([[404, 'there is no file for this month or last month']]),
    unpack: unpackGzip,
  }
}
