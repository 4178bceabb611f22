import { createRequire } from 'node:module'
import { MINUTE_MS } from '../../parts/durations.ts'

/** An offset from UTC in minutes, and the span of epoch milliseconds in which it holds. */
export interface OffsetSpan {
  readonly minutes: number
  readonly from: number
  /** Exclusive. */
  readonly until: number
}

interface PackedData {
  readonly version: string
  readonly zones: readonly string[]
  readonly links: readonly string[]
}

const require = createRequire(import.meta.url)
/** Loaded at startup: later, the package may be missing for a while, as when npm ci runs. */
const DATA: PackedData = require('moment-timezone/data/packed/latest.json')

/** The release of the IANA timezone database that moment-timezone carries, such as 2026f. */
export function packedRelease(): string {
  return DATA.version
}

/**
 * The offset of a zone at `now` (epoch milliseconds), from the data of moment-timezone; undefined
 * for an unknown name. The package's own API would load moment as well: 40 ms and 10 MB instead of
 * 5 ms and 3 MB.
 */
export function packedSpan(zone: string, now: number): OffsetSpan | undefined {
  const row = findRow(zone) ?? findRow(findTarget(zone))
  return row === undefined ? undefined : readSpan(row, now)
}

function findRow(zone: string | undefined): string | undefined {
  return DATA.zones.find((row) => row.split('|', 1)[0] === zone)
}

/** Links are `America/New_York|US/Eastern`: the zone, then its other name. */
function findTarget(alias: string): string | undefined {
  const links = DATA.links.map((link) => link.split('|'))
  return links.find(([, name]) => name === alias)?.[0]
}

/**
 * A zone is `name|abbreviations|offsets|indexes|gaps|population`: the different offsets in minutes
 * west of UTC; for each period, one digit that selects its offset; and the minutes between the ends
 * of the periods, the first counted from 1970. Numbers are in base 60.
 * https://momentjs.com/timezone/docs/#/data-formats/packed-format/
 */
function readSpan(row: string, now: number): OffsetSpan {
  const [, , offsets = '', indexes = '', gaps = ''] = row.split('|')
  const ends = gaps === '' ? [] : gaps.split(' ')
  let from = Number.NEGATIVE_INFINITY
  let until = 0
  let period = 0
  for (const gap of ends) {
    until = Math.round(until + fromBase60(gap) * MINUTE_MS)
    if (now < until) break
    from = until
    period++
  }
  if (period === ends.length) until = Number.POSITIVE_INFINITY
  const west = offsets.split(' ')[fromBase60(indexes[period] ?? '0')] ?? '0'
  return { minutes: 0 - fromBase60(west), from, until }
}

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX'

function fromBase60(text: string): number {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  let value = 0
  for (const digit of whole + fraction) value = value * 60 + DIGITS.indexOf(digit)
  const size = value / 60 ** fraction.length
  return text.startsWith('-') ? 0 - size : size
}

/** The names of the zones, as the IANA database spells them: `Intl` accepts others as well. */
export function zoneNames(): ReadonlySet<string> {
  const packed = DATA.zones.map((row) => row.split('|', 1)[0] ?? '')
  return new Set([
    ...packed,
    ...DATA.links.flatMap((link) => link.split('|')),
    ...Intl.supportedValuesOf('timeZone'),
  ])
}
