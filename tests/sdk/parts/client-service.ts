import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before } from 'node:test'
import { plansFileOf } from '../../support/plans-file.ts'
import { newDataFolder, runScript, type Settings, startServer } from '../../support/process.ts'

/** Without a limit that tests reach. */
const PLAN = { id: 'pro', name: 'Pro', price: 29, maxKeys: 10, maxSites: 10 }
const LARGE_PLAN = { ...PLAN, monthlyCap: 1_000_000_000, requestsPerMinute: 1_000_000 }

interface ClientService {
  /**
   * What the tests of a client read: `MERIDIAN_URL`, and keys. `MERIDIAN_KEY` may do everything,
   * `MERIDIAN_GEO_KEY` may only look up, and `MERIDIAN_FREE_KEY` is on the free plan, with 10 requests a
   * minute. `BUNDLED_URL` and `BUNDLED_KEY` are those of a server with the bundled databases, whose answers the
   * documents show.
   */
  readonly environment: Settings
  stop(): Promise<void>
}

/** Starts servers for the tests of a client: one with small databases (tests/support/geo-files.ts), one with the bundled ones. */
async function startClientService(): Promise<ClientService> {
  const { settings: folder, remove } = newDataFolder()
  const settings = { ...folder, MERIDIAN_PLANS: plansFileOf([LARGE_PLAN]) }
  const ofBundled = newDataFolder()
  const { MERIDIAN_DATA_DIR } = ofBundled.settings
  const bundledSettings = { MERIDIAN_DATA_DIR, MERIDIAN_GEO_DOWNLOAD: '0' }
  const server = await startServer(settings)
  const bundled = await startServer(bundledSettings)
  const makeKey = (email: string, ...options: readonly string[]) =>
    makeKeyIn(settings, ['--email', email, ...options])
  const environment = {
    MERIDIAN_URL: server.url,
    MERIDIAN_KEY: await makeKey('ada@example.com', '--plan', PLAN.id, '--scopes', 'all'),
    MERIDIAN_GEO_KEY: await makeKey('ada@example.com'),
    MERIDIAN_FREE_KEY: await makeKey('bob@example.com', '--plan', 'free'),
    BUNDLED_URL: bundled.url,
    BUNDLED_KEY: await makeKeyIn(bundledSettings, [
      '--email',
      'ada@example.com',
      '--scopes',
      'all',
    ]),
  }
  const stop = async () => {
    await Promise.all([server.stop('SIGTERM'), bundled.stop('SIGTERM')])
    remove()
    ofBundled.remove()
  }
  return { environment, stop }
}

async function makeKeyIn(settings: Settings, options: readonly string[]): Promise<string> {
  const args = ['scripts/key.ts', '--name', 'client', ...options]
  const { code, stdout, stderr } = await runScript(args, settings)
  assert.equal(code, 0, stderr)
  return stdout.trim()
}

/** Starts the server before the tests of a suite and stops it after them. Returns its environment. */
export function withClientService(): () => Settings {
  let service: ClientService | undefined
  before(async () => {
    service = await startClientService()
  })
  after(() => service?.stop())
  return () => {
    assert.ok(service)
    return service.environment
  }
}

/** Runs a command in `sdk/FOLDER`. Fails with its output unless it succeeds. */
export async function runInClient(
  folder: string,
  [program, ...args]: readonly [string, ...string[]],
  environment: Settings = {},
): Promise<void> {
  // Set for the processes of a test run, it makes them write for that run, not for people.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const child = spawn(program, args, {
    cwd: join('sdk', folder),
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  assert.equal(code, 0, `${stdout}\n${stderr}`)
}
