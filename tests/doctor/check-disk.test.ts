import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkDisk, readDisk } from '../../lib/doctor/check-disk.ts'
import { makeDataFolder } from '../support/data-folder.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { lines, matches } from './findings.ts'

const folder = tempFolder()
const MB = 1024 * 1024

describe('checkDisk', () => {
  const sizes = { free: 10_000 * MB, freeFiles: undefined, database: 100 * MB, log: 4 * MB }
  const wide = { ...sizes, isReadOnly: false }

  it('finds no problem if there is room', async () => {
    assert.deepEqual(lines(checkDisk(wide)), ['ok'])
    const { dataDir } = await makeDataFolder(folder)
    const read = readDisk(dataDir)
    assert.ok(read.free > 0 && read.database > 0)
    assert.equal(checkDisk(read).length, 1)
  })

  it('warns if there may be no room for a backup', () => {
    matches(checkDisk({ ...wide, free: 900 * MB }), /^warning: 900 MB are free/)
    matches(checkDisk({ ...wide, database: 5_000 * MB }), /the database takes 5000 MB → make room/)
  })

  it('finds a disk that is nearly full', () => {
    matches(checkDisk({ ...wide, free: 99 * MB }), /^wrong: 99 MB are free/)
    matches(
      checkDisk({ ...wide, freeFiles: 999 }),
      /^wrong: The disk has room for only 999 more files/,
    )
  })

  it('finds a disk that is read-only', () => {
    matches(checkDisk({ ...wide, isReadOnly: true }), /^wrong: The disk is read-only → see dmesg/)
  })

  it('warns of a write-ahead log that keeps growing', () => {
    matches(checkDisk({ ...wide, log: 129 * MB }), /^warning: .*grown to 129 MB → check that Lites/)
  })
})
