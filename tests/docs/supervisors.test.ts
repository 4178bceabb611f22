import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { operations } from '../../lib/contract/operations.ts'
import { Environment } from '../../lib/environment.ts'
import { STOP_DEADLINE_MS } from '../../lib/stop.ts'

/* The files in which supervisors are told how to treat the server. */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const UNIT = read('deploy/meridian.service')
const FLY = read('deploy/fly.toml')
const DOCKERFILE = read('Dockerfile')
const IGNORED = read('.dockerignore').trim().split('\n')

/** What Litestream may take to send the rest, in milliseconds. */
const SYNC_MS = 1000 * Number(/^shutdown-sync-timeout: (\d+)s$/m.exec(read('litestream.yml'))?.[1])

/** The value of a line such as `KillMode=mixed` or `kill_signal = 'SIGTERM'`; it stands once. */
function setting(text: string, name: string): string {
  const found = [...text.matchAll(new RegExp(`^${name} ?= ?'?([^'\n]*)'?$`, 'gm'))]
  assert.equal(found.length, 1, name)
  return found[0]?.[1] ?? ''
}

/** The words after an instruction such as USER, of the last image. */
function instruction(name: string): string {
  const [, last = ''] = DOCKERFILE.split(/^FROM .*\n(?![\s\S]*^FROM)/m)
  return new RegExp(`^${name} ((?:.*\\\\\n)*.*)$`, 'm').exec(last)?.[1] ?? ''
}

const isHealth = (path: string) =>
  operations.some(({ id, path: known }) => id === 'getHealth' && known === path)

describe('every supervisor', () => {
  it('sends a signal at which the server stops in order', () => {
    const handled = /of (\[.*\]) as const\) process\.on\(signal/.exec(read('server.ts'))?.[1] ?? ''
    const signals = [setting(UNIT, 'KillSignal'), setting(FLY, 'kill_signal')]
    for (const signal of [...signals, instruction('STOPSIGNAL')]) {
      assert.ok(handled.includes(`'${signal}'`), signal)
    }
  })

  it('waits for the server, and for Litestream after it', () => {
    assert.ok(SYNC_MS > 0)
    for (const seconds of [setting(UNIT, 'TimeoutStopSec'), setting(FLY, 'kill_timeout')]) {
      assert.ok(Number.parseInt(seconds, 10) * 1000 > STOP_DEADLINE_MS + SYNC_MS)
    }
  })

  it('starts node itself, which gets the signals', () => {
    assert.match(setting(UNIT, 'ExecStart'), /\/node_modules\/\.bin\/node --import tsx server\.ts$/)
    assert.equal(instruction('CMD'), '["node", "--import", "tsx", "server.ts"]')
    assert.equal(instruction('ENTRYPOINT'), '')
  })

  it('asks for the health of the service at the path of the interface', () => {
    assert.ok(isHealth(setting(FLY, 'path')))
    const [, path = ''] = /PORT\}(\/\w+)`/.exec(instruction('HEALTHCHECK')) ?? []
    assert.ok(isHealth(path))
  })
})

describe('the unit of systemd', () => {
  it('lets the first process pass the signal on', () => {
    assert.equal(setting(UNIT, 'KillMode'), 'mixed')
  })

  it('allows more files than connections', () => {
    const connections = Number(v.getDefault(Environment.entries.MERIDIAN_MAX_CONNECTIONS))
    assert.ok(Number(setting(UNIT, 'LimitNOFILE')) > 2 * connections)
  })

  it('runs as nobody in particular, and may write into the data folder alone', () => {
    assert.equal(setting(UNIT, 'User'), 'meridian')
    assert.equal(setting(UNIT, 'ProtectSystem'), 'strict')
    assert.equal(setting(UNIT, 'ReadWritePaths'), '/srv/meridian/data')
    assert.equal(setting(UNIT, 'NoNewPrivileges'), 'yes')
    assert.equal(setting(UNIT, 'CapabilityBoundingSet'), '')
  })

  it('does not forbid what compiles JavaScript', () => {
    assert.doesNotMatch(UNIT, /^MemoryDenyWriteExecute=yes/m)
  })
})

describe('the image', () => {
  it('is that of the Node.js that the packages ask for', () => {
    const { dependencies } = JSON.parse(read('package.json'))
    const images = [...DOCKERFILE.matchAll(/^FROM node:([\d.]+)-\S+/gm)].map(([, name]) => name)
    assert.deepEqual(images, [dependencies.node, dependencies.node])
  })

  it('runs as another user than root, with the packages of the lockfile', () => {
    assert.equal(instruction('USER'), 'node')
    assert.match(DOCKERFILE, /^RUN npm ci --omit=dev$/m)
  })

  it('holds nothing that a server on this machine has written', () => {
    assert.ok(IGNORED.includes('data/*'))
    const kept = IGNORED.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    for (const path of kept) assert.ok(existsSync(new URL(`../../${path}`, import.meta.url)), path)
    assert.deepEqual(kept, ['data/countries.json', 'data/plans.json'])
  })

  it('keeps what lasts where the volume of Fly is', () => {
    assert.equal(instruction('VOLUME'), setting(FLY, 'destination'))
    assert.match(instruction('ENV'), /\bMERIDIAN_DATA_DIR=\/data\b/)
    assert.match(instruction('ENV'), new RegExp(`\\bPORT=${setting(FLY, 'internal_port')}\\b`))
  })
})
