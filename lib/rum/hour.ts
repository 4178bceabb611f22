import { HOUR_MS } from '../parts/durations.ts'

/** In UTC every day has 24 hours. */
export const HOURS_OF_DAY = 24

/** How long telemetry is kept, which is also the longest period to read. */
export const KEPT_DAYS = 92

/** From the first to the last hour or day, counted from 1970-01-01, UTC. */
export interface TelemetryPeriod {
  readonly from: number
  readonly to: number
}

/** Hours since 1970-01-01, UTC. */
export function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS)
}

/** Days since 1970-01-01, UTC. */
export function dayOfHour(hour: number): number {
  return Math.floor(hour / HOURS_OF_DAY)
}

/** YYYY-MM-DDTHH. */
export function formatHour(hour: number): string {
  return new Date(hour * HOUR_MS).toISOString().slice(0, 13)
}

/** Reads YYYY-MM-DDTHH; null if the calendar has no such hour. */
export function parseHour(text: string): number | null {
  const at = Date.parse(`${text}:00:00.000Z`)
  if (Number.isNaN(at)) return null
  const hour = hourOf(at)
  return formatHour(hour) === text ? hour : null
}
