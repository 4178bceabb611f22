import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as v from 'valibot'
import { ServiceInfo } from '../../lib/contract/system.ts'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import {
  addKey,
  newDataFolder,
  type Running,
  runScript,
  type Settings,
  startServer,
} from '../support/process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startLookUps } from './look-ups.ts'
import { copyFiles, copyPackages, makeCommands, makeRepository } from './release.ts'
import { isRunning } from './running.ts'

// run: only on Node.js

/* Upgrades as docs/operations.md describes them, while clients look up addresses. */

/** By then the server has loaded the last things, as docs/operations.md says. */
const LOADED_MS = 60_000
const ANSWERED_MS = 5_000
const RESTARTED_MS = 30_000
const LONGEST_MS = 400_000

const { dataDir, settings: base, remove } = newDataFolder()
const started: Running[] = []
after(() => {
  for (const { pid } of started) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  remove()
})

/** Starts a server that does not outlive the tests. */
async function start(more: Settings, folder: string): Promise<Running> {
  const server = await startServer({ ...settings, ...more }, folder)
  started.push(server)
  return server
}

const plans = join(dataDir, 'plans.json')
const free = { id: 'free', name: 'Free', price: 0, maxKeys: 10, maxSites: 1 }
writeFileSync(plans, JSON.stringify([{ ...free, monthlyCap: 1e9, requestsPerMinute: 1e6 }]))
const settings = { ...base, MERIDIAN_PLANS: plans, MERIDIAN_LOG_LEVEL: 'warn' }

let key: string
before(async () => {
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'load']
  key = (await runScript(args, settings)).stdout.trim()
})

/** Moves the packages away while `during` runs, as if by `npm ci`, then back. */
async function replacePackages(release: string, during: () => Promise<void>): Promise<void> {
  const packages = join(release, 'node_modules')
  renameSync(packages, `${packages}-away`)
  await during()
  renameSync(`${packages}-away`, packages)
}

describe('npm ci beside a server', () => {
  it('makes no look-up, sign-in or challenge fail, and the server stops', async () => {
    const release = tempFolder()
    copyFiles(release)
    copyPackages(release)
    const server = await start({}, release)
    const ask = async (path: string, init: RequestInit = {}) => {
      const signal = AbortSignal.timeout(ANSWERED_MS)
      const answer = await fetch(`${server.url}${path}`, { ...init, signal })
      await answer.text()
      assert.equal(answer.status, 200, `${path} ${server.output()}`)
    }
    const account = { email: 'grace@example.com', name: 'Grace', password: crypto.randomUUID() }
    const headers = { 'content-type': 'application/json', origin: server.url }
    const post = { method: 'POST', headers, body: JSON.stringify(account) }
    const askForAll = async () => {
      await ask('/v1/contact/challenge')
      await ask('/api/auth/sign-in/email', post)
      for (const page of ['/', '/docs', '/.well-known/openapi.json', '/health/ready', '/rum.js'])
        await ask(page)
    }
    await sleep(LOADED_MS)
    using lookUps = startLookUps({ url: server.url, key, withinMs: ANSWERED_MS, mayRetry: false })
    await replacePackages(release, async () => {
      await ask('/api/auth/sign-up/email', post)
      await askForAll()
    })
    await askForAll()
    await lookUps.stop()
    assert.ok(lookUps.right() > 0)
    const { code, stderr } = await server.stop('SIGTERM')
    assert.deepEqual([code, stderr], [0, ''])
  })
})

/** The blocks of commands in a section, in order. */
function commandsOf(section: string): string[] {
  const document = readFileSync('docs/operations.md', 'utf8')
  const [, text = ''] =
    new RegExp(`^## ${section}\n(.+?)^(?:## |With Compose)`, 'ms').exec(document) ?? []
  const blocks = [...text.matchAll(/^```sh\n(.+?)^```/gms)].map(([, block = '']) => block)
  assert.ok(blocks.length > 1, section)
  // The file of settings is a block of the same kind.
  return blocks.filter((block) => !/^[A-Z_]+=/.test(block))
}

describe('an install and an upgrade as docs/operations.md describes them', () => {
  const folder = tempFolder()
  const [app, repository] = [join(folder, 'app'), join(folder, 'repository')]
  const [pidFile, wanted, units] = [
    join(folder, 'pid'),
    join(folder, 'wanted'),
    join(folder, 'units'),
  ]
  const environment = join(folder, 'meridian.env')
  const own = { ...settings, MERIDIAN_DATA_DIR: join(folder, 'data') }
  let server: Running
  let isWanted = true
  after(() => {
    isWanted = false
  })

  /** Runs the server while it is wanted, as systemd does. */
  async function supervise(port: number): Promise<void> {
    while (isWanted) {
      if (!existsSync(wanted)) {
        await sleep(20)
        continue
      }
      server = await startServer({ ...own, PORT: String(port) }, app)
      started.push(server)
      writeFileSync(pidFile, String(server.pid))
      const { code, stderr } = await server.ended
      assert.deepEqual([code, stderr], [0, ''])
    }
  }

  async function versionAt(url: string): Promise<string> {
    const answer = await fetch(`${url}/v1`).catch(() => undefined)
    return answer === undefined ? '' : v.parse(ServiceInfo, await answer.json()).version
  }

  async function waitFor(url: string, isVersion: (version: string) => boolean): Promise<void> {
    const late = AbortSignal.timeout(RESTARTED_MS)
    while (!isVersion(await versionAt(url))) {
      late.throwIfAborted()
      await sleep(50)
    }
  }

  /** Runs the blocks of a section one after another, each as it is written, by root. */
  async function runSection(section: string, PATH: string): Promise<void> {
    for (const block of commandsOf(section)) {
      const script = block
        .replaceAll('VERSION', 'next')
        .replaceAll('REPOSITORY', repository)
        .replaceAll('/etc/meridian.env', environment)
        .replaceAll('/etc/systemd/system', units)
        .replaceAll('/srv/meridian', folder)
      // An operator types the blocks of the first install in one shell, which is then in app.
      const cwd = existsSync(app) ? app : folder
      const env = { ...process.env, PATH, MERIDIAN_DATA_DIR: undefined }
      await promisify(execFile)('sh', ['-euc', script], { cwd, env })
    }
  }

  it('answers every look-up that balancers retry', { timeout: LONGEST_MS }, async () => {
    const next = '999.0.0'
    makeRepository(repository, next)
    mkdirSync(units)
    const lines = Object.entries(own).map(([name, value]) => `${name}='${value}'\n`)
    writeFileSync(environment, lines.join(''))
    const commands = makeCommands(join(folder, 'bin'), { pidFile, wanted })
    const PATH = `${commands}:${process.env['PATH']}`
    const port = await findFreePort()
    const url = `http://127.0.0.1:${port}`
    const supervisor = supervise(port)
    await Promise.race([runSection('On a small VM', PATH), supervisor])
    assert.ok(existsSync(join(units, 'meridian.service')))
    await Promise.race([waitFor(url, (version) => version !== ''), supervisor])
    const ownKey = await addKey(own)
    using lookUps = startLookUps({ url, key: ownKey, withinMs: RESTARTED_MS, mayRetry: true })
    await Promise.race([runSection('Upgrades', PATH), supervisor])
    await Promise.race([waitFor(url, (version) => version === next), supervisor])
    const before = lookUps.right()
    await sleep(1_000)
    await lookUps.stop()
    assert.ok(before > 0 && lookUps.right() > before)
    assert.ok(lookUps.retries() > 0, 'nobody listened for a while')
    assert.deepEqual(readdirSync(join(folder, 'data', 'backups')).length, 1)
    isWanted = false
    await Promise.all([server.stop('SIGTERM'), supervisor])
  })
})
