/** 12,345 */
export function count(n: number): string {
  return n.toLocaleString('en')
}

/** The number and its noun: `one` if the number is 1, else `many`. */
export function counted(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`
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

/** 2026-01-15 12:00 from an ISO 8601 time in UTC. */
export function minuteText(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}

/** 2026-01-15 */
export function dayText(time: string): string {
  return time.slice(0, 10)
}

/** 15 January */
export function dayInWords(time: string): string {
  return new Date(time).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  })
}

/** 2026-01-15 11:00 from an hour of the API, 2026-01-15T11. */
export function hourText(hour: string): string {
  return `${hour.replace('T', ' ')}:00`
}
