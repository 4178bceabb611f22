import type { HealthStatus } from '../contract/system.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../parts/durations.ts'
import { withTimeout } from '../parts/with-timeout.ts'

/** A real look-up and a real write, which throw if they fail. */
interface Checks {
  readonly geolocation: () => void
  readonly database: () => Promise<void>
}

const CACHED_MS = SECOND_MS
/** The check fails if its write waits longer than this for another process. */
const WRITE_MS = SECOND_MS
/** Balancers that ask every second would take a longer wait for a failure. */
const READY_MS = 100

/**
 * Runs the checks at most once a second, however often the health is read. `uptime`: milliseconds
 * since the start of the process, whatever happens to the clock.
 */
export function createHealth(checks: Checks, now: () => number, uptime = () => performance.now()) {
  let draining = false
  let checkedAt = Number.NEGATIVE_INFINITY
  let geolocation = false
  let database = Promise.resolve(false)
  /** Of the last check that has ended. */
  let lastWrite = false

  const checkDatabase = async () => {
    lastWrite = await passesInTime(checks.database)
    return lastWrite
  }
  const check = () => {
    if (Math.abs(now() - checkedAt) < CACHED_MS) return
    checkedAt = now()
    geolocation = passes(checks.geolocation)
    database = checkDatabase()
  }
  const toStatus = (isGood: boolean, results: HealthStatus['checks']): HealthStatus => ({
    status: isGood && !draining ? 'ok' : 'degraded',
    uptime: roughDuration(uptime()),
    timestamp: new Date(now()).toISOString(),
    checks: results,
  })
  return {
    /** Reports `degraded` from now on, so that load balancers send no more requests. */
    drain: () => {
      draining = true
    },
    read: async (): Promise<HealthStatus> => {
      check()
      const results = { geolocation, database: await database }
      return toStatus(results.geolocation && results.database, results)
    },
    /** `ok` as long as look-ups with a key are answered, whatever the database does. Hardly waits for it. */
    readLookUps: async (): Promise<HealthStatus> => {
      check()
      const results = {
        geolocation,
        database: await withTimeout(database, READY_MS, () => lastWrite),
      }
      return toStatus(results.geolocation, results)
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

async function passesInTime(check: () => Promise<void>): Promise<boolean> {
  try {
    const passed = check().then(() => true)
    return await withTimeout(passed, WRITE_MS, () => false)
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
