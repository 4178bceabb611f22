import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openDb } from '../../lib/db/open.ts'
import { checkDatabase } from '../../lib/doctor/check-database.ts'
import { replaceFile } from '../../lib/geo/files/replace-file.ts'
import { diskAdvice } from '../../lib/parts/disk-advice.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const file = join(folder, 'app.db')
const error = (code: string) => Object.assign(new Error('disk I/O error'), { code })

describe('the advice for a failing disk', () => {
  it('says how much room is needed', () => {
    for (const code of ['ENOSPC', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE']) {
      const advice = diskAdvice(file, error(code), 2 ** 60)
      assert.match(advice, /^\d+\.\d \wB are free on the disk of .*: make room for \d+\.\d \wB$/)
    }
  })

  it('names quotas and inodes if a disk with enough room takes no more', () => {
    for (const code of ['ENOSPC', 'EDQUOT', 'SQLITE_FULL']) {
      assert.match(
        diskAdvice(file, error(code), 1),
        /^\d+\.\d \wB are free .*: check quotas and inodes/,
      )
    }
  })

  it('names the disk if there is room, and a folder that is missing', () => {
    const advice = diskAdvice(file, error('EIO'), 1)
    assert.match(advice, /^check whether the disk of .* is failing \(dmesg\)/)
    const missing = join(folder, 'missing', 'app.db')
    assert.match(diskAdvice(missing, error('SQLITE_CANTOPEN')), /^this user cannot write .*ENOENT/)
  })

  it('says which user must own a file, and which path must be a folder', () => {
    assert.equal(diskAdvice(file, error('EACCES')), 'change the owner of that file to this user')
    const plain = join(folder, 'plain')
    writeFileSync(plain, '')
    const advice = `${plain} must be a folder: move the file with that name away`
    assert.equal(diskAdvice(plain, error('EEXIST')), advice)
    assert.equal(diskAdvice(join(plain, 'app.db'), error('ENOTDIR')), advice)
  })

  it('is empty for other errors', () => {
    for (const code of ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'ENOENT', '']) {
      assert.equal(diskAdvice(file, error(code)), '')
    }
  })

  it('is part of the message of a file that cannot be written', async () => {
    const writing = replaceFile(folder, 'a.mmdb', async () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    })
    const message =
      /^Error: Cannot write .*a\.mmdb: ENOSPC: .*; \d+\.\d \wB are free on the disk of /
    await assert.rejects(writing, message)
  })

  it('keeps the doctor from replacing a database that it cannot open', () => {
    mkdirSync(file)
    const message = /Cannot open the database .*app\.db: unable to open .*; check wh/
    assert.throws(() => openDb(file), message)
    const [finding] = checkDatabase(file)
    assert.ok(finding?.state === 'wrong')
    assert.match(finding.advice, /^keep the file: check whether the disk of /)
  })
})
