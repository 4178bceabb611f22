import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMmdbWriter } from '../../../lib/geo/mmdb/writer.ts'
import { ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { until } from '../../billing/server-shop.ts'
import { BUILT_AT } from '../../support/geo-files.ts'
import { newDataFolder, runScript, startServer } from '../../support/process.ts'

// run: alone

/* The process that combines the databases ends with its server, even if that is killed. */

const KILLS = 10
/** So many that combining them takes much longer than the time in which a compiler must end. */
const NETWORKS = 2 ** 22
/** Enough for compilers that first finish walking all networks; ten that never notice take minutes. */
const LONGEST_MS = 60_000

const { dataDir, settings: folder, remove } = newDataFolder()
const city = join(dataDir, 'City.mmdb')
const settings = { ...folder, MERIDIAN_GEO: city, MERIDIAN_GEO_ATLAS: '1' }

before(() => {
  const options = { databaseType: 'GeoLite2-City', description: 'Test', ipVersion: 4 } as const
  const writer = createMmdbWriter({ ...options, builtAt: BUILT_AT })
  const places = ['DE', 'FR', 'IT'].map((code) => ({ country: { iso_code: code } }))
  for (let number = 0; number < NETWORKS; number++) {
    const address = ipv4FromBits((number * 2 ** 10) | 0)
    writer.insert({ address, prefix: 22 }, places[number % places.length] ?? '')
  }
  writeFileSync(city, writer.toBytes())
})
after(() => {
  for (const pid of compilers()) process.kill(pid, 'SIGKILL')
  remove()
})

/** The processes that combine the databases of this data folder. */
function compilers(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isCompiler(pid))
}

function isCompiler(pid: number): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return command.includes('--atlas') && environment.includes(`MERIDIAN_DATA_DIR=${dataDir}`)
  } catch {
    return false // it has ended
  }
}

/** Waits until no compiler is left: on a busy machine, the system takes a while to end one of low priority. */
const untilEnded = () => until(() => compilers().length === 0)

/** Whether a process holds a lock on the file. */
function isLocked(path: string): boolean {
  const inode = statSync(path, { throwIfNoEntry: false })?.ino
  return readFileSync('/proc/locks', 'utf8').includes(`:${inode} `)
}

it('no compiler is left after ten servers were killed', async () => {
  for (let kill = 1; kill <= KILLS; kill++) {
    const server = await startServer(settings)
    await until(() => compilers().length > 0)
    // From a compiler that is still loading to one that is computing.
    await sleep(300 * kill)
    await server.stop('SIGKILL')
  }
  const deadline = performance.now() + LONGEST_MS
  while (compilers().length > 0 && performance.now() < deadline) await sleep(100)
  assert.deepEqual(compilers(), [])
})

it('a server reports the signal that killed its compiler, and when it tries again', async () => {
  const server = await startServer(settings)
  await until(() => compilers().length > 0)
  for (const pid of compilers()) process.kill(pid, 'SIGKILL')
  await until(() => server.output().includes('look-ups are slower'))
  assert.match(server.output(), /"reason":"killed by SIGKILL, [^"]*","retryInMinutes":1,/)
  await server.stop('SIGTERM')
})

it('a frozen compiler does not delay the stop, and ends', async () => {
  const server = await startServer(settings)
  await until(() => compilers().length > 0)
  for (const pid of compilers()) process.kill(pid, 'SIGSTOP')
  const stopped = server.stop('SIGTERM').then(({ code }) => code)
  const outcome = await Promise.race([stopped, sleep(LONGEST_MS, 'still running', { ref: false })])
  if (outcome !== 0) for (const pid of compilers()) process.kill(pid, 'SIGCONT')
  await stopped
  assert.equal(outcome, 0)
  await untilEnded()
})

it('a second compiler of the same folder is refused while the first one works', async () => {
  const server = await startServer(settings)
  await until(() => isLocked(join(dataDir, 'geo/atlas.lock')))
  const { code, stderr } = await runScript(['scripts/geo.ts', '--atlas'], settings)
  assert.deepEqual(
    [code, stderr],
    [1, 'Cannot combine the databases: another process is doing it\n'],
  )
  const [compiler = 0] = compilers()
  await server.stop('SIGTERM')
  assert.ok(compiler > 0)
  await untilEnded()
})
