import type { HealthStatus } from './contract/system.ts'

/** What is tried; a throw means that it failed. */
export interface Checks {
  /** A real look-up. */
  readonly geolocation: () => void
  /** A real write. */
  readonly database: () => void
}

export interface Health {
  read(): HealthStatus
  /** From now on the answer is degraded, so that load balancers send nobody any more. */
  drain(): void
}

const CACHED_MS = 1_000

/** Runs the checks at most once a second, so that asking often costs nothing. */
export function createHealth(checks: Checks, now: () => number): Health {
  const startedAt = now()
  let draining = false
  let checkedAt = Number.NEGATIVE_INFINITY
  let results = { geolocation: false, database: false }

  const check = () => {
    if (Math.abs(now() - checkedAt) < CACHED_MS) return
    checkedAt = now()
    results = { geolocation: passes(checks.geolocation), database: passes(checks.database) }
  }
  return {
    drain: () => {
      draining = true
    },
    read: () => {
      check()
      const good = results.geolocation && results.database && !draining
      return {
        status: good ? 'ok' : 'degraded',
        uptime: roughDuration(now() - startedAt),
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
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** The largest unit that fits, in whole numbers: 3 days, 1 hour. */
function roughDuration(ms: number): string {
  const [name, size] = UNITS.find(([, unit]) => ms >= unit) ?? ['second', 1_000]
  const count = Math.max(0, Math.floor(ms / size))
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
