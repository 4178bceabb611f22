import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  hasLitestream,
  type Replication,
  readReplication,
} from '../../../lib/doctor/replication.ts'
import { geoFiles, makeGeoFolder } from '../../support/geo-files.ts'
import { runScript } from '../../support/process.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { checkLitestream, startReplicated } from './litestream.ts'

// run: alone

/** Far longer than Litestream waits between two copies. */
const STOPPED_MS = 5_000
const DEADLINE_MS = 60_000

const folder = tempFolder()
const dataDir = join(folder, 'machine')
const replica = join(folder, 'replica')
const { city, asn } = geoFiles()
const settings = {
  MERIDIAN_DATA_DIR: dataDir,
  MERIDIAN_GEO: `${city},${asn}`,
  LITESTREAM_REPLICA_URL: `file://${replica}`,
}

/** Waits until Litestream says what `holds` expects. */
async function until(holds: (state: Replication) => boolean): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const state = await readReplication(dataDir)
    if (holds(state)) return
    assert.ok(performance.now() < deadline, JSON.stringify(state))
    await sleep(100)
  }
}

const isCompleteSince = (time: number) => (state: Replication) =>
  'syncedAt' in state && state.syncedAt > time && state.unread === 0

const hasStopped = (state: Replication) =>
  'syncedAt' in state && Date.now() - state.syncedAt > STOPPED_MS

async function addUser(name: string): Promise<void> {
  const args = ['scripts/key.ts', '--email', `${name}@example.com`, '--name', name]
  assert.equal((await runScript(args, settings)).code, 0)
}

/** The lines of the doctor about the copy. */
async function diagnose(): Promise<string> {
  const { stdout } = await runScript(['scripts/doctor.ts'], settings)
  return stdout.match(/^\w+ +Copy .*$/m)?.[0] ?? ''
}

describe('the state of the copy', () => {
  before(() => {
    checkLitestream()
    makeGeoFolder(dataDir)
  })

  it('is what Litestream does: copies, cannot write the copy, copies again, is gone', async () => {
    assert.equal(await diagnose(), '', 'without Litestream the doctor says nothing')
    const server = await startReplicated(settings)
    await until(isCompleteSince(Date.now()))
    await addUser('ada')
    await until(isCompleteSince(Date.now()))
    assert.match(await diagnose(), /^ok .* last completed the copy \d+ seconds? ago; it has read /)

    renameSync(replica, `${replica}-away`)
    writeFileSync(replica, 'a file where the folder was')
    await addUser('grace')
    await until(hasStopped)
    rmSync(replica)
    renameSync(`${replica}-away`, replica)
    await until(isCompleteSince(Date.now()))

    await server.kill()
    assert.ok(hasLitestream(dataDir))
    assert.match(await diagnose(), /^warning .*Litestream does not answer: connect ECONNREFUSED/)
  })
})
