import { existsSync } from 'node:fs'
import { RESTORE_ADVICE } from '../db/fault.ts'
import { findDamage, latestTime, pendingMigrations } from '../db/inspect.ts'
import { type Finding, ok, reasonOf, warning, wrong } from './finding.ts'

const RESTORE = `stop the server, ${RESTORE_ADVICE}`
const CLOCK = 'set the clock, and let it be kept, such as by systemd-timesyncd'
/** Clocks of machines that keep them differ by less. */
const TOLERANCE_MS = 60_000

/** Whether SQLite finds the database whole, and this version can work with it. */
export function checkDatabase(file: string): Finding[] {
  if (!existsSync(file)) return [warning(`There is no ${file} yet`, 'start the server once')]
  const damage = findDamageOf(file)
  if (damage.length > 0) return damage.map((line) => wrong(`${file}: ${line}`, RESTORE))
  try {
    const pending = pendingMigrations(file)
    if (pending.length === 0) return [ok(`${file} is whole and up to date`)]
    const advice = 'make a backup; the next start applies them (npm run migrate -- --dry-run)'
    return [warning(`${file} lacks ${pending.join(', ')}`, advice)]
  } catch (error) {
    return [wrong(`${file}: ${reasonOf(error)}`, 'run the version that wrote it, or a newer one')]
  }
}

/** A file that is no database at all is one that SQLite does not even open. */
function findDamageOf(file: string): string[] {
  try {
    return findDamage(file)
  } catch (error) {
    return [reasonOf(error)]
  }
}

/** Whether the clock stands before what the database says has happened. */
export function checkClock(file: string, now: number): Finding[] {
  const latest = findLatestTime(file)
  const text = `The clock says ${new Date(now).toISOString()}`
  if (latest <= now + TOLERANCE_MS) return [ok(text)]
  return [wrong(`${text}, the database knows of ${new Date(latest).toISOString()}`, CLOCK)]
}

/** 0 where it cannot be read, of which `checkDatabase` tells. */
function findLatestTime(file: string): number {
  try {
    return latestTime(file)
  } catch {
    return 0
  }
}

/** Compares the clock with the `Date` header of an answer (RFC 9110, 6.6.1), which `who` gave. */
export function compareClocks(who: string, date: string | null, now: number): Finding[] {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs) || Math.abs(theirs - now) <= TOLERANCE_MS) return []
  return [wrong(`The clock differs by ${Math.round((now - theirs) / 1000)} s from ${who}`, CLOCK)]
}
