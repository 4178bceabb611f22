import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { isDamage, isFault } from '../../lib/db/fault.ts'
import { checkpointWal, checkWrite, openDb } from '../../lib/db/open.ts'
import { health } from '../../lib/db/tables.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { watchForDamage } from '../../lib/services/damage.ts'
import { makeDataFolder, withClient } from '../support/data-folder.ts'
import { recordingLog } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const PAGE = 4096
const LARGE_BYTES = 65 * 1024 * 1024

function pageOf(database: string, table: string): number {
  const root = 'SELECT rootpage FROM sqlite_schema WHERE name = ?'
  return withClient(database, (client) => Number(client.prepare(root).pluck().get(table)))
}

function overwrite(database: string, page: number): void {
  const bytes = readFileSync(database)
  writeFileSync(database, bytes.fill(0x5a, (page - 1) * PAGE, page * PAGE))
}

/** The error message on opening; empty if it opens. */
function openError(database: string): string {
  try {
    openDb(database).$client.close()
    return ''
  } catch (error) {
    return String(error)
  }
}

const REFUSED =
  /^Error: Cannot open the database .*app\.db: [^\n]+; keep the file, check the disk \(dmesg\), and restore/

describe('a damaged database', () => {
  it('is refused with advice, whichever page is damaged', async () => {
    const { database } = await makeDataFolder(folder)
    for (const table of ['users', 'audit_log', 'rum_sketches', 'sites_by_name']) {
      const page = pageOf(database, table)
      const copy = join((await makeDataFolder(folder)).dataDir, 'app.db')
      copyFileSync(database, copy)
      overwrite(copy, page)
      assert.match(openError(copy), REFUSED, table)
    }
    overwrite(database, 1)
    assert.match(openError(database), REFUSED, 'header and schema')
  })

  it('is refused only for damage in its small tables if it is large', async () => {
    const { database } = await makeDataFolder(folder)
    withClient(database, (client) => {
      const insert = `INSERT INTO rum_sketches (site_id, hour, country, device, samples, sketches)
        VALUES ('a', 1, '', 'mobile', 1, zeroblob(${LARGE_BYTES}))`
      client.exec(insert)
    })
    const [large, small] = [pageOf(database, 'rum_paths'), pageOf(database, 'sites')]
    overwrite(database, large)
    assert.equal(openError(database), '')
    overwrite(database, small)
    assert.match(openError(database), REFUSED)
  })

  it('is not created anew if only its log is left', async () => {
    const { database } = await makeDataFolder(folder)
    writeFileSync(`${database}-wal`, 'the last writes')
    truncateSync(database, 0)
    assert.match(openError(database), /missing or empty, but its write-ahead log is not; keep/)
    assert.equal(readFileSync(`${database}-wal`, 'utf8'), 'the last writes')
  })
})

describe('a write-ahead log of the previous process', () => {
  it('is in the database file after a checkpoint', async () => {
    const left = join(folder, 'left.db')
    const other = join(folder, 'other.db')
    const alone = join(folder, 'alone.db')
    const db = openDb(left)
    await checkWrite(db, 7)
    for (const ending of ['', '-wal']) copyFileSync(`${left}${ending}`, `${other}${ending}`)
    db.$client.close()
    const opened = openDb(other)
    checkpointWal(opened)
    copyFileSync(other, alone)
    opened.$client.close()
    assert.deepEqual(await openDb(alone).select().from(health).all(), [{ id: 1, checkedAt: 7 }])
  })
})

describe('damage that is found in use', () => {
  const MALFORMED = Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' })
  const FAILED = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' })
  const watch = () => {
    const recorded = recordingLog()
    const clock = { time: 0 }
    const watched = watchForDamage(recorded, () => clock.time)
    const report = (...errors: readonly Error[]) => {
      for (const err of errors) watched.log.error({ err }, 'failed')
    }
    const advice = () =>
      recorded.events.map(({ message }) => message).filter((message) => message !== 'failed')
    return { ...watched, clock, report, advice }
  }

  it('is called damage once, and does not go away by itself', () => {
    const { report, advice, checkDamage, clock } = watch()
    report(MALFORMED, MALFORMED)
    assert.match(advice().join(), /^the database is damaged: keep the file[^,]*,[^,]*, and restore/)
    clock.time = HOUR_MS
    assert.throws(checkDamage, MALFORMED)
  })

  it('is never called damage if the disk fails, and health recovers', () => {
    for (const errors of [
      [FAILED, MALFORMED],
      [FAILED, MALFORMED, MALFORMED, FAILED],
    ]) {
      const { report, advice, checkDamage, clock } = watch()
      report(...errors)
      assert.match(advice().join(), /^the disk fails: [^;]*doctor; restore nothing before that$/)
      assert.throws(checkDamage, MALFORMED)
      clock.time = MINUTE_MS + 1
      checkDamage()
    }
  })

  it('is taken back if the disk fails afterwards', () => {
    const { report, advice, checkDamage, clock } = watch()
    report(MALFORMED, FAILED)
    assert.match(advice().at(-1) ?? '', /^the disk fails/)
    clock.time = MINUTE_MS + 1
    checkDamage()
  })
})

describe('errors of SQLite', () => {
  const sqliteError = (code: string) => Object.assign(new Error('any'), { code })
  const classOf = (code: string) => [isFault(sqliteError(code)), isDamage(sqliteError(code))]

  it('are classified as faults, and some faults as damage', () => {
    for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_FSYNC', 'SQLITE_BUSY', 'SQLITE_READONLY']) {
      assert.deepEqual(classOf(code), [true, false], code)
    }
    for (const code of ['SQLITE_CORRUPT', 'SQLITE_CORRUPT_VTAB', 'SQLITE_NOTADB']) {
      assert.deepEqual(classOf(code), [true, true], code)
    }
    for (const code of ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_ERROR'])
      assert.equal(isFault(sqliteError(code)), false)
    assert.equal(isFault(new Error('any')), false)
  })
})
