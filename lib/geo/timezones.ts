import { readFileSync } from 'node:fs'
import lookUpZone from '@photostructure/tz-lookup'
import { readTzif, tzifOffset } from './tzif.ts'

export interface Offsets {
  /**
   * The offset from UTC of an IANA timezone at `now` (epoch ms) as +HH:MM or -HH:MM; undefined for
   * a zone that neither the system nor the runtime knows. Kept per zone for the running minute:
   * since 1973 every transition of the IANA database falls on a whole minute.
   */
  readonly utcOffset: (zone: string, now: number) => string | undefined
  /** The data behind `utcOffset`, chosen once. */
  readonly timezoneData: () => TimezoneData
}

/** A release of the IANA timezone database, such as 2026c or unknown, and whose copy it is. */
interface TimezoneData {
  readonly source: 'system' | 'runtime'
  readonly release: string
}

interface Options {
  /** Where the system may keep its zone files; the first directory that has a release counts. */
  readonly directories: readonly string[]
  /** The release that `Intl` uses. */
  readonly runtimeRelease: string | undefined
}

/** Writes a zone's offset at epoch milliseconds. */
type Clock = (now: number) => string

interface CachedOffset {
  readonly clock: Clock
  /** Whole minutes since 1970 for which `text` holds. */
  minute: number
  text: string
}

const MINUTE_MS = 60_000
// Twice the names of the IANA database: real zones stay, invented spellings cannot fill the memory.
const MAX_ZONES = 1_200

const DIRECTORIES = ['/usr/share/zoneinfo', '/usr/share/lib/zoneinfo', '/etc/zoneinfo']
const RELEASE_FILES = ['tzdata.zi', '+VERSION', 'version']
const RELEASE = /^(?:# version )?(\d{4}[a-z]+)/
// Names come out of database files: none that passes leads out of the directory. The capital keeps
// out what is no zone: localtime, posixrules and the copies below posix/ and right/.
const FILE_NAME = /^[A-Z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/

const { tz: runtimeRelease } = process.versions

export const { utcOffset, timezoneData } = createOffsets({
  directories: DIRECTORIES,
  runtimeRelease,
})

/**
 * Offsets out of the system's zone files where these are at least as new as the runtime's data,
 * else out of `Intl`, which answers for zones that the system lacks as well.
 */
export function createOffsets({ directories, runtimeRelease }: Options): Offsets {
  const system = findSystem(directories, runtimeRelease)
  const data: TimezoneData = system
    ? { source: 'system', release: system.release }
    : { source: 'runtime', release: runtimeRelease ?? 'unknown' }
  const findClock = (zone: string) => systemClock(zone, system?.directory) ?? runtimeClock(zone)
  return { utcOffset: rememberOffsets(findClock), timezoneData: () => data }
}

/** The IANA timezone at a place in degrees, Etc/GMT±h at sea; undefined outside ±90 and ±180. */
export function zoneAt(latitude: number, longitude: number): string | undefined {
  const exists = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
  return exists ? lookUpZone(latitude, longitude) : undefined
}

function findSystem(directories: readonly string[], runtimeRelease: string | undefined) {
  for (const directory of directories) {
    const release = findRelease(directory)
    if (release === undefined) continue
    const isNewEnough = runtimeRelease !== undefined && release >= runtimeRelease
    return isNewEnough ? { directory, release } : undefined
  }
  return undefined
}

function findRelease(directory: string): string | undefined {
  for (const file of RELEASE_FILES) {
    try {
      const release = RELEASE.exec(readFileSync(`${directory}/${file}`, 'latin1'))?.[1]
      if (release !== undefined) return release
    } catch {} // most systems have one of the files
  }
  return undefined
}

function rememberOffsets(findClock: (zone: string) => Clock | undefined): Offsets['utcOffset'] {
  const offsets = new Map<string, CachedOffset>()
  const unknownZones = new Set<string>()

  function addZone(zone: string): CachedOffset | undefined {
    if (unknownZones.has(zone)) return undefined
    const clock = findClock(zone)
    if (clock === undefined) {
      if (unknownZones.size >= MAX_ZONES) unknownZones.clear()
      unknownZones.add(zone)
      return undefined
    }
    if (offsets.size >= MAX_ZONES) offsets.clear()
    const added: CachedOffset = { clock, minute: Number.NaN, text: '' }
    offsets.set(zone, added)
    return added
  }

  return (zone, now) => {
    const minute = Math.floor(now / MINUTE_MS)
    const cached = offsets.get(zone) ?? addZone(zone)
    if (cached === undefined || cached.minute === minute) return cached?.text
    cached.text = cached.clock(now)
    cached.minute = minute
    return cached.text
  }
}

function systemClock(zone: string, directory: string | undefined): Clock | undefined {
  if (directory === undefined || !FILE_NAME.test(zone)) return undefined
  const file = readTzif(`${directory}/${zone}`)
  return file && ((now) => offsetText(tzifOffset(file, Math.floor(now / 1000))))
}

function runtimeClock(timeZone: string): Clock | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
    return (now) => textOf(format.format(now))
  } catch {
    return undefined // the only error of the constructor with these options is the unknown zone
  }
}

/** Drops the seconds, which zones had before they were whole minutes. */
function offsetText(seconds: number): string {
  const minutes = Math.trunc(Math.abs(seconds) / 60)
  const pair = (value: number) => String(value).padStart(2, '0')
  const sign = seconds < 0 && minutes > 0 ? '-' : '+'
  return `${sign}${pair(Math.trunc(minutes / 60))}:${pair(minutes % 60)}`
}

// The text ends in GMT, GMT+05:45 or, before zones were whole minutes, GMT-00:44:30.
function textOf(formatted: string): string {
  const offset = /GMT([+-]\d{2}:\d{2})/.exec(formatted)?.[1] ?? '+00:00'
  return offset === '-00:00' ? '+00:00' : offset
}
