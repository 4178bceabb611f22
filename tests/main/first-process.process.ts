import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { newDataFolder } from '../support/process.ts'
import { LOADER } from '../support/runtime.ts'

// run: only on Node.js

/* A server that is process 1, as in a container. strace sends a signal while it is being loaded. */

const AT = resolve('lib/services/services.ts')
const STRACE = ['-f', '-o', '/dev/null', '-P', AT, '-e', 'trace=openat']
const UNSHARE = ['unshare', '--pid', '--fork', '--kill-child']

const { settings, remove } = newDataFolder()
after(remove)

const isPossible = spawnSync('strace', [...STRACE, ...UNSHARE, 'true']).status === 0

describe('process 1', { skip: !isPossible && 'needs strace, and root to make process 1' }, () => {
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const) {
    it(`ends at a ${signal} that comes before it listens`, async () => {
      const inject = ['-e', `inject=openat:signal=${signal}:when=1`]
      const server = [process.execPath, ...LOADER, 'server.ts']
      const { PATH = '', HOME = '' } = process.env
      const child = spawn('strace', [...STRACE, ...inject, ...UNSHARE, ...server], {
        env: { PATH, HOME, PORT: '0', MERIDIAN_GEO_ATLAS: '0', ...settings },
        stdio: ['ignore', 'pipe', 'ignore'],
        detached: true,
      })
      // It survived the signal: only SIGKILL ends it.
      child.stdout.once('data', () => process.kill(-(child.pid ?? 0), 'SIGKILL'))
      await once(child, 'close')
      assert.equal(child.exitCode, code)
    })
  }
})
