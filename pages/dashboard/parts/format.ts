import { sizeText } from '../../../lib/parts/size-text.ts'

/** 12,345 */
export function count(n: number): string {
  return n.toLocaleString('en')
}

/** The number and its noun: `one` if the number is 1, else `many`. */
export function counted(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`
}

/**
 * Such as 12%: below 1% and above 99% with a digit after the point, so that little is not nothing, and almost all is
 * not all.
 */
export function percent(part: number, all = 1): string {
  const of100 = all === 0 ? 0 : (part / all) * 100
  if (of100 > 0 && of100 < 0.1) return 'under 0.1%'
  if (of100 > 0 && of100 < 0.95) return `${of100.toFixed(1)}%`
  if (of100 > 99 && of100 < 100) return `${(Math.floor(of100 * 10) / 10).toFixed(1)}%`
  return `${count(Math.round(of100))}%`
}

/** Such as 12.3 MB, whose unit stays with its number. */
export function size(bytes: number): string {
  return sizeText(bytes).replace(' ', '\u00a0')
}

/** shop.example of https://shop.example. Other schemes stay. */
export function siteText(name: string): string {
  return name.replace(/^https:\/\//, '')
}

/** ISO 8601 of epoch milliseconds. */
export function isoTime(at: number): string
export function isoTime(at: number | null): string | null
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

/** ISO 8601 of the first second of an hour of the API, 2026-01-15T11. */
export function startOfHour(hour: string): string {
  return `${hour}:00:00Z`
}

/** ISO 8601 of the last second of an hour of the API. */
export function endOfHour(hour: string): string {
  return `${hour}:59:59Z`
}
