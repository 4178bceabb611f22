/** Formats epoch milliseconds as 2026-01-31. */
export function isoDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Formats epoch milliseconds as 2026-01-31T12:00:00Z. */
export function isoSecond(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+/, '')
}
