import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { emailsIn } from '../../support/data-folder.ts'
import { geoFiles, makeGeoFolder } from '../../support/geo-files.ts'
import { runScript } from '../../support/process.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { checkLitestream, restoreCopy, startReplicated } from './litestream.ts'

// run: alone

const folder = tempFolder()
const replica = join(folder, 'replica')
const DEADLINE_MS = 30_000
/** From then on, a server stops without waiting for Litestream. */
const PAST_FIRST_SECONDS_MS = 3_100

function settingsOf(machine: string) {
  const { city, asn } = geoFiles()
  makeGeoFolder(join(folder, machine))
  return {
    MERIDIAN_DATA_DIR: join(folder, machine),
    MERIDIAN_GEO: `${city},${asn}`,
    LITESTREAM_REPLICA_URL: `file://${replica}`,
  }
}

/** Starts a process that must end by itself with an error. Returns what it prints. */
async function failToStart(settings: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PORT: '0', ...settings }
  const child = spawn('sh', ['scripts/with-litestream.sh'], { env, detached: true })
  // Ends a server that starts after all, too.
  const deadline = setTimeout(() => process.kill(-Number(child.pid), 'SIGKILL'), DEADLINE_MS)
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')])
  clearTimeout(deadline)
  assert.ok(child.exitCode !== null && child.exitCode > 0, `it ended with ${child.exitCode}`)
  return stderr
}

describe('the start under Litestream', () => {
  before(checkLitestream)

  it('begins anew if there is no copy, and stops once everything is copied', async () => {
    const settings = settingsOf('first')
    const server = await startReplicated(settings)
    const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first']
    assert.equal((await runScript(args, settings)).code, 0)
    const { code } = await server.stop('SIGTERM')
    assert.equal(code, 0)
    assert.match(server.output(), /"msg":"stopped"/)
  })

  it('restores the copy if there is no database', async () => {
    const settings = settingsOf('second')
    const server = await startReplicated(settings)
    await sleep(PAST_FIRST_SECONDS_MS)
    const { stderr } = await server.stop('SIGTERM')
    assert.doesNotMatch(stderr, /warning/i)
    assert.deepEqual(emailsIn(join(folder, 'second', 'app.db')), ['ada@example.com'])
  })

  it('copies the database even if the server stops at once', async () => {
    const hasty = { ...settingsOf('hasty'), LITESTREAM_REPLICA_URL: `file://${folder}/of-hasty` }
    const server = await startReplicated(hasty)
    assert.equal((await server.stop('SIGTERM')).code, 0)
    const copy = join(folder, 'copy-of-hasty.db')
    await restoreCopy(copy, hasty)
    assert.deepEqual(emailsIn(copy), [])
  })

  it('is refused without a destination, or if a write-ahead log has no database', async () => {
    const { LITESTREAM_REPLICA_URL: _, ...without } = settingsOf('third')
    assert.match(await failToStart(without), /^Set LITESTREAM_REPLICA_URL, such as s3:/)
    writeFileSync(join(folder, 'third', 'app.db-wal'), '')
    assert.match(await failToStart(settingsOf('third')), /app\.db is missing, but .*-wal is not\n$/)
  })

  it('is refused if the copy is damaged, and creates no empty database instead', async () => {
    for (const path of globSync(join(replica, '**/*.ltx'))) {
      const bytes = readFileSync(path)
      writeFileSync(path, bytes.fill(0x5a, Math.floor(bytes.length / 2)))
    }
    assert.notEqual(await failToStart(settingsOf('fourth')), '')
    assert.equal(existsSync(join(folder, 'fourth', 'app.db')), false)
  })
})
