import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
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

/** Restores the copy into a new file, as the start script does. */
export async function restoreCopy(path: string, settings: Settings): Promise<void> {
  const flags = ['-config', 'litestream.yml', '-integrity-check', 'full', '-o', path]
  const database = join(settings['MERIDIAN_DATA_DIR'] ?? '', 'app.db')
  const child = spawn('litestream', ['restore', ...flags, database], {
    env: { PATH, HOME, ...settings },
  })
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  assert.equal(child.exitCode, 0, `litestream restore: ${output}${errors}`)
}
