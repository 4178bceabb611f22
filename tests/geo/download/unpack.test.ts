import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { unpackTar } from '../../../lib/geo/download/unpack.ts'
import { ON_POSIX } from '../../support/runtime.ts'
import { tarOf } from './providers.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'meridian-unpack-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('unpackTar', () => {
  it(
    'fails only once its output is closed, so that the caller can remove it',
    ON_POSIX,
    async () => {
      const archive = join(folder, 'archive.tar')
      writeFileSync(archive, tarOf({ 'a/b.txt': 'text' }))
      // A pipe opens for writing once somebody reads it.
      const slow = join(folder, 'slow.mmdb')
      execFileSync('mkfifo', [slow])
      let isDone = false
      const unpacked = unpackTar(archive, slow).finally(() => {
        isDone = true
      })
      unpacked.catch(() => {})
      await sleep(200)
      const wasDone = isDone
      await using _reader = await open(slow)
      await assert.rejects(unpacked, /holds 0 \.mmdb files/)
      assert.equal(wasDone, false)
    },
  )
})
