import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import * as v from 'valibot'
import { operations } from '../../lib/contract/operations.ts'
import manifest from '../../package.json' with { type: 'json' }
import { startLoopbackServer } from '../support/loopback-server.ts'
import { ON_POSIX } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

/* The commands of the Dockerfile, which are run here as a container would. */

const DOCKERFILE = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')
const CI = readFileSync(new URL('../../.ci/run', import.meta.url), 'utf8')
const Command = v.tupleWithRest([v.string()], v.string())

/** The words of the command that an instruction, which may go on in further lines, has as JSON. */
function commandOf(instruction: string) {
  const found = new RegExp(`^${instruction} ((?:.*\\\\\n)*.*)$`, 'm').exec(DOCKERFILE)?.[1] ?? ''
  return v.parse(Command, JSON.parse(found.slice(found.indexOf('['))))
}

describe('the health check of the image', ON_POSIX, () => {
  const path = operations.find(({ id }) => id === 'getReadiness')?.path

  async function check(status: number): Promise<number> {
    await using server = await startLoopbackServer((request, response) => {
      response.writeHead(request.url === path ? status : 404).end('{}')
    })
    const [program, ...args] = commandOf('HEALTHCHECK')
    const env = { PATH: process.env['PATH'], PORT: String(server.port) }
    return await promisify(execFile)(program, args, { env }).then(
      () => 0,
      ({ code }) => code,
    )
  }

  it('passes while the server is ready, and fails otherwise', async () => {
    assert.equal(await check(200), 0)
    assert.equal(await check(503), 1)
  })

  it('fails if nothing listens', () => {
    const [program, ...args] = commandOf('HEALTHCHECK')
    const env = { PATH: process.env['PATH'], PORT: '1' }
    assert.notEqual(spawnSync(program, args, { env }).status, 0)
  })

  it('starts no Node.js', () => {
    assert.equal(commandOf('HEALTHCHECK')[0], 'bash')
  })
})

describe('the command of the image', ON_POSIX, () => {
  /** What it starts in a folder whose scripts only print their names. */
  function started(env: Record<string, string>): string {
    const folder = tempFolder()
    mkdirSync(join(folder, 'scripts'))
    for (const name of ['node.sh', 'with-litestream.sh']) {
      writeFileSync(join(folder, 'scripts', name), `#!/bin/sh\necho ${name} "$@"\n`, {
        mode: 0o700,
      })
    }
    const [program, ...args] = commandOf('CMD')
    const { PATH = '' } = process.env
    const options = { cwd: folder, env: { PATH, ...env }, encoding: 'utf8' } as const
    return execFileSync(program, args, options).trim()
  }

  it('starts the server', () => {
    assert.equal(started({}), 'node.sh server.ts')
    assert.equal(started({ LITESTREAM_REPLICA_URL: '' }), 'node.sh server.ts')
  })

  it('starts it under Litestream if that has an address', () => {
    assert.equal(started({ LITESTREAM_REPLICA_URL: 's3://bucket/path' }), 'with-litestream.sh')
  })
})

describe('the image', () => {
  it('has the Litestream that the tests use, with the checksum of its source', () => {
    const [, tested = ''] = /^LITESTREAM=\S+@(v[\d.]+)$/m.exec(CI) ?? []
    assert.match(DOCKERFILE, new RegExp(`LITESTREAM=${tested} SUM=h1:[\\w+/]{43}=$`, 'm'))
  })

  it('is described as the package is', () => {
    const label = (name: string) =>
      new RegExp(`org\\.opencontainers\\.image\\.${name}="(.*)"`).exec(DOCKERFILE)?.[1]
    assert.equal(label('description'), manifest.description)
    assert.equal(label('licenses'), manifest.license)
  })
})
