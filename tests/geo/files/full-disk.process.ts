import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { operatorFiles } from '../../../lib/geo/files/source-files.ts'
import { openLibrary } from '../../../lib/geo/library.ts'
import { MINUTE_MS } from '../../../lib/parts/durations.ts'
import { mmdbBytes } from '../../support/geo-files.ts'
import { recordingLog } from '../../support/helpers.ts'

// run: only on Node.js

/* A new database for which a small disk has no room. */

const MB = 1024 * 1024
const disk = mkdtempSync(join(tmpdir(), 'meridian-geo-disk-'))
const file = `${disk}.mmdb`
const mount = ['-t', 'tmpfs', '-o', `size=${8 * MB}`, 'tmpfs', disk]
const isMounted = spawnSync('mount', mount).status === 0
after(() => {
  // This process has a file of it mapped.
  if (isMounted) spawnSync('umount', ['--lazy', disk])
  rmSync(disk, { recursive: true })
  rmSync(file, { force: true })
})

it('a database that did not fit on the disk is served once there is room', {
  skip: !isMounted && 'cannot mount a disk',
}, async () => {
  const log = recordingLog()
  let time = 0
  writeFileSync(file, databaseOf(2025))
  const library = await openLibrary({
    findFiles: () => operatorFiles(disk, [file]),
    map: true,
    regionCode: () => undefined,
    log,
    now: () => time,
  })
  const buildYear = () => new Date(library.list()[0]?.metadata.builtAt ?? 0).getUTCFullYear()
  const refresh = async () => {
    for (let n = 0; n < 2; n++) await library.refresh()
  }
  writeFileSync(join(disk, 'rest'), Buffer.alloc(4 * MB))
  writeFileSync(file, databaseOf(2026))
  await refresh()
  const [refusal] = log.events.splice(0)
  assert.match(
    JSON.stringify(refusal),
    /ENOSPC: .*; \d\.\d MB are free on the disk of .*: make room for 3\.2 MB"/,
  )
  time += MINUTE_MS
  await refresh()
  assert.equal(buildYear(), 2025)
  rmSync(join(disk, 'rest'))
  time += 2 * MINUTE_MS
  await refresh()
  assert.equal(buildYear(), 2026)
})

/** A database of a good 3 MB that was built in this year. */
function databaseOf(year: number): Buffer {
  const bytes = mmdbBytes(
    { '0.0.0.0/0': { country: { iso_code: 'DE' } } },
    { builtAt: Date.UTC(year, 1) },
  )
  const end = bytes.lastIndexOf('\xab\xcd\xefMaxMind.com', undefined, 'latin1')
  return Buffer.concat([bytes.subarray(0, end), Buffer.alloc(3 * MB), bytes.subarray(end)])
}
