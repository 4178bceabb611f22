import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import * as v from 'valibot'
import { HealthStatus } from '../../lib/contract/system.ts'
import { addUsers, writeWidePlan } from '../accounts/many-users.ts'
import {
  newDataFolder,
  type Running,
  runScript,
  startServer,
  untilHealthy,
} from '../support/process.ts'

// run: alone

/* Damaged bytes in the database file, found at the start or while the server runs. */

const PAGE = 4096
const SITES = '/v1/account/me/sites'

const { dataDir, settings: folder, remove } = newDataFolder()
after(remove)
const plans = join(dataDir, 'plans.json')
const settings = { ...folder, MERIDIAN_PLANS: plans }
const database = join(dataDir, 'app.db')
const archive = join(dataDir, 'backup.tar.gz')
const sound = join(dataDir, 'sound.db')
let key: string
let server: Running
before(async () => {
  writeWidePlan(plans)
  key = (await addUsers(database, plans, 1))[0] ?? ''
  server = await startServer(settings)
  assert.equal(await addSite('https://shop.example'), 201)
  await server.stop('SIGTERM')
  assert.equal((await runScript(['scripts/backup.ts', '--out', archive], settings)).code, 0)
  cpSync(database, sound)
})
afterEach(() => server.stop('SIGKILL'))

async function statusOf(path: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(`${server.url}${path}`, { ...init, headers: { 'x-api-key': key } })
  await answer.text()
  return answer.status
}

const addSite = (name: string) =>
  statusOf(SITES, { method: 'POST', body: JSON.stringify({ name }) })

/** Where the table begins, in bytes. */
function startOf(table: string): number {
  const db = new Sqlite(sound, { readonly: true })
  const root = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table)
  db.close()
  return (Number(root) - 1) * PAGE
}

function overwrite(path: string, from: number, length: number): void {
  writeFileSync(path, readFileSync(path).fill(0x5a, from, from + length))
}

function restoreSoundFile(): void {
  for (const ending of ['-wal', '-shm']) rmSync(`${database}${ending}`, { force: true })
  cpSync(sound, database)
}

describe('a start on a damaged database', () => {
  const PLACES = {
    'its header': () => [0, 100],
    'its schema': () => [100, PAGE - 100],
    'a table': () => [startOf('users'), PAGE],
    'an index': () => [startOf('sites_by_name'), PAGE],
  }
  for (const [place, find] of Object.entries(PLACES)) {
    it(`is refused with the file name and how to restore it, and changes nothing: ${place}`, async () => {
      restoreSoundFile()
      const [from = 0, length = 0] = find()
      overwrite(database, from, length)
      const damaged = readFileSync(database)
      const { code, stderr } = await runScript(['server.ts'], { PORT: '0', ...settings })
      assert.equal(code, 1)
      assert.match(stderr, /^Cannot open the database .*app\.db: [^\n]*npm run restore[^\n]*\n$/)
      assert.ok(readFileSync(database).equals(damaged))
    })
  }

  it('works after a restore as the message says', async () => {
    restoreSoundFile()
    overwrite(database, startOf('users'), PAGE)
    const restored = await runScript(['scripts/restore.ts', archive, '--overwrite'], settings)
    assert.equal(restored.code, 0, restored.stderr)
    server = await startServer(settings)
    assert.equal(await statusOf(SITES), 200)
  })
})

describe('a write-ahead log with a torn end', () => {
  it('is used up to the tear, as after a power cut', async () => {
    restoreSoundFile()
    server = await startServer(settings)
    const log = `${database}-wal`
    assert.equal(await addSite('https://one.example'), 201)
    const end = statSync(log).size
    assert.equal(await addSite('https://two.example'), 201)
    await server.stop('SIGKILL')
    overwrite(log, end, statSync(log).size - end)
    server = await startServer(settings)
    const answer = await fetch(`${server.url}${SITES}`, { headers: { 'x-api-key': key } })
    const sites = v.parse(v.array(v.object({ name: v.string() })), await answer.json())
    const isKept = sites.some(({ name }) => name === 'https://one.example')
    assert.equal(isKept, true)
  })
})

/** A write by another process makes the server read its pages again. */
function writeFromElsewhere(): void {
  const db = new Sqlite(database)
  db.exec('UPDATE health SET checked_at = 1')
  db.close()
}

describe('damage found while the server runs', () => {
  it('makes requests that need the database fail with 503, shows in health and log, and stops no look-up', async () => {
    restoreSoundFile()
    server = await startServer(settings)
    await untilHealthy(server)
    overwrite(database, startOf('sites'), PAGE)
    writeFromElsewhere()
    assert.equal(await statusOf(SITES), 503)
    const logged =
      /the database is damaged: keep the file, check the disk \(dmesg\), and restore.*npm run restore/
    // The line follows others that are being written.
    while (!logged.test(server.output())) await sleep(20)
    assert.equal(await statusOf('/v1/ip/81.2.69.160'), 200)
    while ((await statusOf('/health')) !== 503) await sleep(20)
    const health = v.parse(HealthStatus, await (await fetch(`${server.url}/health`)).json())
    assert.deepEqual(health.checks, { geolocation: true, database: false })
  })
})
