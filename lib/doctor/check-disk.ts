import { existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MIN_FREE_BYTES, writeProblem } from '../parts/disk-advice.ts'
import { MB, sizeText } from '../parts/size-text.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

const ENOUGH_FREE_BYTES = 1_000 * MB
/** A backup needs a copy, the archive, and another copy to check it. */
const COPIES = 3
const MIN_FREE_FILES = 1_000
/** The server checkpoints the log at 64 MB at the latest. */
const MAX_LOG_BYTES = 128 * MB

/** Reads sizes in bytes; `freeFiles` is undefined if the number of files has no limit. */
export function readDisk(dataDir: string) {
  const folder = existsSync(dataDir) ? dataDir : '.'
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  const sizeOf = (name: string) =>
    statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0
  return {
    isReadOnly: writeProblem(folder) === 'EROFS',
    free: bavail * bsize,
    freeFiles: files === 0 ? undefined : ffree,
    database: sizeOf('app.db'),
    log: sizeOf('app.db-wal'),
  }
}

/** Checks that the disk has room, and that the write-ahead log is short. */
export function checkDisk(disk: ReturnType<typeof readDisk>): Finding[] {
  const { isReadOnly, free, freeFiles, database, log } = disk
  const taken = database === 0 ? '' : `; the database takes ${sizeText(database)}`
  const room = `${sizeText(free)} are free${taken}`
  const findings: Finding[] = []
  if (isReadOnly) {
    findings.push(wrong('The disk is read-only', 'see dmesg, repair it or mount it writable'))
  }
  if (free < MIN_FREE_BYTES) findings.push(wrong(room, 'make room: a full disk stops all writes'))
  else if (free < Math.max(ENOUGH_FREE_BYTES, COPIES * database)) {
    findings.push(
      warning(room, 'make room: keep 1 GB free, and three times the database for a backup'),
    )
  }
  if (freeFiles !== undefined && freeFiles < MIN_FREE_FILES) {
    findings.push(wrong(`The disk has room for only ${freeFiles} more files`, 'remove some files'))
  }
  if (log > MAX_LOG_BYTES) {
    const advice = 'check that Litestream runs, or end the process that keeps reading the database'
    findings.push(warning(`The write-ahead log has grown to ${sizeText(log)}`, advice))
  }
  return findings.length > 0 ? findings : [ok(room)]
}
