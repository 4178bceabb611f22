import type { HealthStatus } from '../contract/system.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts'

/** A real look-up and a real write, which throw if they fail. */
type Checks = Readonly<Record<'geolocation' | 'database', () => void>>

const CACHED_MS = SECOND_MS

/**
 * Runs the checks at most once a second, however often the health is read. `uptime`: milliseconds
 * since the start of the process, whatever happens to the clock.
 */
export function createHealth(checks: Checks, now: () => number, uptime = () => performance.now()) {
  let draining = false
  let checkedAt = Number.NEGATIVE_INFINITY
  let results = { geolocation: false, database: false }

  const check = () => {
    if (Math.abs(now() - checkedAt) < CACHED_MS) return
    checkedAt = now()
    results = { geolocation: passes(checks.geolocation), database: passes(checks.database) }
  }
  return {
    /** Reports `degraded` from now on, so that load balancers send no more requests. */
    drain: () => {
      draining = true
    },
    read: (): HealthStatus => {
      check()
      const good = results.geolocation && results.database && !draining
      return {
        status: good ? 'ok' : 'degraded',
        uptime: roughDuration(uptime()),
        timestamp: new Date(now()).toISOString(),
        checks: results,
      }
    },
  }
}

function passes(check: () => void): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
  ['second', SECOND_MS],
] as const

/** A whole number of the largest unit that fits, such as "3 days" or "1 hour". */
function roughDuration(ms: number): string {
  const [name, size] = UNITS.find(([, unit]) => ms >= unit) ?? ['second', SECOND_MS]
  const count = Math.floor(ms / size)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
