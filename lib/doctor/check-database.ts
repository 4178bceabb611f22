import { existsSync } from 'node:fs'
import { findDamage, latestTime, pendingMigrations } from '../db/database-file.ts'
import { isDamage, RESTORE_ADVICE } from '../db/fault.ts'
import { commandText } from '../parts/clone-or-package.ts'
import { diskAdvice } from '../parts/disk-advice.ts'
import { MINUTE_MS } from '../parts/durations.ts'
import { reasonOf } from '../parts/reason.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

const RESTORE_DATABASE = `stop the server, ${RESTORE_ADVICE}`
const SET_CLOCK = 'set the clock, and keep it synchronised, for example with systemd-timesyncd'
/** Synchronised clocks differ by less than this. */
const TOLERANCE_MS = MINUTE_MS

/** Checks that SQLite finds no damage in the database, and that this version can use it. */
export function checkDatabase(file: string): Finding[] {
  if (!existsSync(file)) return [warning(`There is no ${file} yet`, 'start the server once')]
  try {
    const damage = findDamage(file)
    if (damage.length > 0) return damage.map((line) => wrong(`${file}: ${line}`, RESTORE_DATABASE))
  } catch (error) {
    return [wrong(`${file}: ${reasonOf(error)}`, adviceFor(file, error))]
  }
  try {
    const pending = pendingMigrations(file)
    if (pending.length === 0) return [ok(`${file} is undamaged and up to date`)]
    const advice = `make a backup; ${commandText('migrate', '--dry-run')} tries them on a copy, and the next start applies them`
    return [warning(`${file} lacks ${pending.join(', ')}`, advice)]
  } catch (error) {
    return [wrong(`${file}: ${reasonOf(error)}`, 'run the version that wrote it, or a newer one')]
  }
}

/** A database that cannot be read may be healthy, so only a damaged one should be replaced. */
function adviceFor(file: string, error: unknown): string {
  if (isDamage(error)) return RESTORE_DATABASE
  return `keep the file: ${diskAdvice(file, error) || 'stop the process that uses it, and try again'}`
}

/** Checks that the clock is not behind the latest time in the database. */
export function checkClock(file: string, now: number): Finding[] {
  const latest = findLatestTime(file)
  const text = `The clock says ${new Date(now).toISOString()}`
  if (latest <= now + TOLERANCE_MS) return [ok(text)]
  return [
    wrong(`${text}, but the database was written at ${new Date(latest).toISOString()}`, SET_CLOCK),
  ]
}

/** 0 if the database cannot be read, which `checkDatabase` reports. */
function findLatestTime(file: string): number {
  try {
    return latestTime(file)
  } catch {
    return 0
  }
}

/** Compares the clock with the header Date of an answer of `server` (RFC 9110, 6.6.1). */
export function compareClocks(server: string, date: string | null, now: number): Finding[] {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs) || Math.abs(theirs - now) <= TOLERANCE_MS) return []
  return [
    wrong(`The clock differs by ${Math.round((now - theirs) / 1000)} s from ${server}`, SET_CLOCK),
  ]
}
