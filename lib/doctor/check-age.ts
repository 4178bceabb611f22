import { databaseName } from '../contract/geo/database-names.ts'
import { commandText } from '../parts/clone-or-package.ts'
import { DAY_MS, HOUR_MS } from '../parts/durations.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** A database that a server would serve. */
export type GeoFile = UsableFile | UnusableFile

interface UsableFile {
  readonly name: string
  readonly provider: string
  readonly builtAt: string
}

interface UnusableFile {
  readonly name: string
  readonly problem: string
  readonly hasLastUsable: boolean
  /** Whether it is missing only until the next start. */
  readonly isAwaited?: boolean
}

/** Providers publish new databases at least once a month. */
const OLD_GEO_MS = 45 * DAY_MS
/** Files that change only when their owners change what is in them. */
const OWN_FILES = ['overlay', 'geofeeds']
/** A server checks once a day. Two failures in a row may be the provider's fault. */
const OLD_DOWNLOAD_MS = 3 * DAY_MS
const OLD_BACKUP_MS = 2 * DAY_MS
const LIST = new Intl.ListFormat('en')

/** Checks whether the databases can be used, and how old they are: one finding for all that are old for one reason. */
export function checkGeo(files: readonly GeoFile[], renewal: Renewal, now: number): Finding[] {
  const old = new Map<string, { advice: string; names: string[] }>()
  const found: Finding[] = []
  for (const file of files) {
    if ('problem' in file) {
      found.push(checkUnusable(file))
      continue
    }
    const { days, isOld } = geoAge(Date.parse(file.builtAt), now)
    const age = counted(days, 'day')
    if (!isOld || OWN_FILES.includes(file.name)) {
      found.push(ok(`${databaseName(file.name)} was built ${age} ago`))
      continue
    }
    const { reason, advice } = whyOld(file.provider, renewal)
    const alike = old.get(reason) ?? { advice, names: [] }
    alike.names.push(`${databaseName(file.name)} (${age})`)
    old.set(reason, alike)
  }
  const warnings = [...old].map(([reason, { advice, names }]) => {
    const are = names.length === 1 ? 'is' : 'are'
    return warning(`${LIST.format(names)} ${are} old: ${reason}`, advice)
  })
  return [...warnings, ...found]
}

/** What brings newer databases. */
export interface Renewal {
  /** Whether MERIDIAN_GEO names the databases. */
  readonly isOwn: boolean
  /** Whether the server looks for newer ones every day. */
  readonly isRegular: boolean
  /** Whether MaxMind's files can be downloaded. */
  readonly hasAccount: boolean
}

/** Providers of the databases that MaxMind's replace; anybody may download DB-IP's. */
const OF_MAXMIND = ['maxmind', 'ip-location-db']

/** Says why a database of this provider is old, and what to do: anywhere, or on the page of the databases. */
export function whyOld(provider: string, { isOwn, isRegular, hasAccount }: Renewal) {
  if (isOwn) {
    const advice = 'put newer files in their place'
    return { reason: 'MERIDIAN_GEO says which files are used', advice, onPage: advice }
  }
  if (OF_MAXMIND.includes(provider) && !hasAccount) {
    const settings = 'MERIDIAN_MAXMIND_ACCOUNT_ID and MERIDIAN_MAXMIND_LICENSE_KEY'
    const advice = `enter it on the page /app/operate/databases, or set ${settings}`
    const onPage = 'enter its ID and licence key below'
    return { reason: "a newer one needs MaxMind's free account", advice, onPage }
  }
  const command = commandText('geo', '--download')
  const onPage = 'press Download now'
  if (isRegular) {
    return { reason: 'no download has brought a newer one', advice: `run: ${command}`, onPage }
  }
  const reason = 'MERIDIAN_GEO_DOWNLOAD=0 turns downloads off'
  return { reason, advice: `unset it, or run every week: ${command}`, onPage }
}

function checkUnusable({ name, problem, hasLastUsable, isAwaited }: UnusableFile): Finding {
  if (isAwaited === true) {
    const advice = `the next start prepares it, or now: ${commandText('geo')}`
    return warning(`${name} is not prepared yet`, advice)
  }
  const effect = hasLastUsable ? 'serves its last usable version' : 'does not start'
  const advice = `a server ${effect}: replace the file if it is yours; ${commandText('geo')} prepares the bundled ones`
  return wrong(problem, advice)
}

/** The age of a database in whole days, and whether its provider has published a newer one by now. */
export function geoAge(builtAt: number, now: number): { days: number; isOld: boolean } {
  const age = now - builtAt
  return { days: Math.floor(age / DAY_MS), isOld: age > OLD_GEO_MS }
}

/** Names the release of the IANA timezone database in use, and the software that carries it. */
export function checkTimezones(data: { readonly source: string; readonly release: string }) {
  return ok(`Timezone data ${data.release}, from ${data.source}`)
}

/** Checks the time of the last successful download; `succeededAt` is 0 if there was none. */
export function checkDownloads(succeededAt: number, now: number): Finding {
  const text =
    succeededAt === 0
      ? 'The server has never checked for newer databases'
      : `The server checked for newer databases ${hours(now - succeededAt)} ago`
  if (now - succeededAt <= OLD_DOWNLOAD_MS) return ok(text)
  return warning(
    text,
    `unless the server has just started, run: ${commandText('geo', '--download')}`,
  )
}

/** Checks the time of the latest backup in `directory`; undefined if there is none. */
export function checkBackups(directory: string, latest: number | undefined, now: number): Finding {
  const advice = `run ${commandText('backup')} every day, and keep copies on another machine`
  if (latest === undefined) return warning(`There is no backup in ${directory}`, advice)
  const text = `The latest backup in ${directory} is ${hours(now - latest)} old`
  return now - latest > OLD_BACKUP_MS ? warning(text, advice) : ok(text)
}

/** Rounds milliseconds down to whole hours. */
export function hours(ms: number): string {
  return counted(Math.floor(ms / HOUR_MS), 'hour')
}

/** Such as `1 hour` or `3 hours`. */
export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
