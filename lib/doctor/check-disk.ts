import { existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** Sizes in bytes. */
export interface Disk {
  readonly free: number
  /** How many more files it takes; undefined where it has no limit. */
  readonly freeFiles: number | undefined
  readonly database: number
  /** The write-ahead log of the database. */
  readonly log: number
}

const MB = 1024 * 1024
const LEAST_FREE = 100 * MB
const ENOUGH_FREE = 1024 * MB
/** A backup needs the copy, the archive and, to check it, the copy once more. */
const COPIES = 3
const LEAST_FREE_FILES = 1_000
/** The server moves the log into the database at 64 MB at the latest. */
const LONGEST_LOG = 128 * MB

export function readDisk(dataDir: string): Disk {
  const { bavail, bsize, files, ffree } = statfsSync(existsSync(dataDir) ? dataDir : '.')
  const sizeOf = (name: string) =>
    statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0
  return {
    free: bavail * bsize,
    freeFiles: files === 0 ? undefined : ffree,
    database: sizeOf('app.db'),
    log: sizeOf('app.db-wal'),
  }
}

/** The room that is left, and whether the log of the database stays short. */
export function checkDisk({ free, freeFiles, database, log }: Disk): Finding[] {
  const room = `${toMb(free)} MB are free, the database has ${toMb(database)} MB`
  const findings: Finding[] = []
  if (free < LEAST_FREE) findings.push(wrong(room, 'make room: a full disk stops all writes'))
  else if (free < Math.max(ENOUGH_FREE, COPIES * database)) {
    findings.push(warning(room, 'make room: a backup needs three times the database'))
  }
  if (freeFiles !== undefined && freeFiles < LEAST_FREE_FILES) {
    findings.push(wrong(`The disk takes only ${freeFiles} more files`, 'remove some'))
  }
  if (log > LONGEST_LOG) {
    const advice = 'see that Litestream runs, or end what reads the database for so long'
    findings.push(warning(`The log of the database has grown to ${toMb(log)} MB`, advice))
  }
  return findings.length > 0 ? findings : [ok(room)]
}

function toMb(bytes: number): number {
  return Math.round(bytes / MB)
}
