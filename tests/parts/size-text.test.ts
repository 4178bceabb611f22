import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkDisk } from '../../lib/doctor/check-disk.ts'
import { sizeText } from '../../lib/parts/size-text.ts'
import { allLines } from '../doctor/findings.ts'

describe('a size', () => {
  it('counts in thousands, as disks do', () => {
    assert.equal(sizeText(999), '1.0 kB')
    assert.equal(sizeText(12_345_678), '12.3 MB')
    assert.equal(sizeText(53_821_000_000), '53.8 GB')
  })

  it('is the same for the doctor and the page of the system', () => {
    const [free, database] = [53_821_000_000, 2_097_152]
    const disk = { isReadOnly: false, free, freeFiles: undefined, database, log: 0 }
    const [line = ''] = allLines(checkDisk(disk))
    assert.equal(line, `ok: ${sizeText(free)} are free; the database takes ${sizeText(database)}`)
  })
})
