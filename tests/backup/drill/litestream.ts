import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Running, type Settings, waitForUrl } from '../../support/process.ts'

const { PATH = '', HOME = '' } = process.env

const INSTALL = 'go install github.com/benbjohnson/litestream/cmd/litestream@v0.5.18'

/** Throws if Litestream is missing or has known faults. */
export function checkLitestream(): void {
  const { stdout, error } = spawnSync('litestream', ['version'], { encoding: 'utf8' })
  assert.equal(error, undefined, `Cannot run litestream: ${INSTALL}, and put it on the PATH`)
  const [, major, minor, patch] = /v?(\d+)\.(\d+)\.(\d+)/.exec(stdout) ?? []
  const number = Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch)
  assert.ok(number >= 5_017, `Litestream is ${stdout.trim()}, 0.5.17 or newer is needed`)
}

export interface Replicated extends Running {
  /** Kills Litestream and the server at the same moment, like a power failure. */
  kill(): Promise<void>
}

/**
 * Starts the server as operators do, under Litestream, but without the demo key. That key is derived
 * from the secrets: each machine here has its own, and would replace the demo key in the copy.
 */
export async function startReplicated(settings: Settings): Promise<Replicated> {
  const env = { PATH, HOME, PORT: '0', MERIDIAN_DEMO: '0', ...settings }
  const child = spawn('sh', ['scripts/with-litestream.sh'], { env, detached: true })
  const running = await waitForUrl(child)
  const kill = async () => {
    process.kill(-running.pid, 'SIGKILL')
    await running.stop('SIGKILL')
  }
  return { ...running, kill }
}

/** Waits for the first file of the copy, which Litestream writes a moment after it started the server. */
export async function waitForCopy(settings: Settings): Promise<void> {
  const deadline = performance.now() + 30_000
  while (performance.now() < deadline) {
    const listed = await runLitestream('ltx', [databaseIn(settings)], settings)
    assert.equal(listed.exitCode, 0, `litestream ltx: ${listed.output}`)
    if (listed.output.trim().split('\n').length > 1) return
    await sleep(100)
  }
  assert.fail('Litestream copied nothing within 30 seconds')
}

/** Restores the copy into a new file, as the start script does. */
export async function restoreCopy(path: string, settings: Settings): Promise<void> {
  const flags = ['-integrity-check', 'full', '-o', path]
  const { exitCode, output } = await runLitestream(
    'restore',
    [...flags, databaseIn(settings)],
    settings,
  )
  assert.equal(exitCode, 0, `litestream restore: ${output}`)
}

function databaseIn(settings: Settings): string {
  return join(settings['MERIDIAN_DATA_DIR'] ?? '', 'app.db')
}

async function runLitestream(command: string, args: readonly string[], settings: Settings) {
  const child = spawn('litestream', [command, '-config', 'litestream.yml', ...args], {
    env: { PATH, HOME, ...settings },
  })
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { exitCode: child.exitCode, output: `${output}${errors}` }
}
