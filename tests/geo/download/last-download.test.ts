import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { findLastDownload, noteDownload } from '../../../lib/geo/download/last-download.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
const NOW = Date.UTC(2026, 10, 21)

describe('the last download', () => {
  it('is remembered by the next process', async () => {
    assert.equal(findLastDownload(folder, NOW), 0)
    await noteDownload(folder, NOW - 1_000)
    assert.equal(findLastDownload(folder, NOW), NOW - 1_000)
  })

  it('is ignored if its time is in the future or unreadable', async () => {
    await noteDownload(folder, NOW + 1_000)
    assert.equal(findLastDownload(folder, NOW), 0)
    const other = tempFolder()
    writeFileSync(join(other, 'downloads.json'), '{')
    assert.equal(findLastDownload(other, NOW), 0)
  })
})
