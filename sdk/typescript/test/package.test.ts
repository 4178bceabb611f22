import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const PROGRAMS = ['locate', 'list', 'more', 'errors'] as const
const SERVERS = ['express', 'hono'] as const
/** What the samples import besides the client. */
const PEERS = ['express', 'hono', '@hono/node-server', '@types']
/** Readers have the bundled databases, not those of the tests. */
const WITH_BUNDLED_DATA = {
  ...process.env,
  MERIDIAN_URL: process.env['BUNDLED_URL'],
  MERIDIAN_KEY: process.env['BUNDLED_KEY'],
}
const STRICT = ['--strict', '--target', 'esnext', '--module', 'nodenext', '--types', 'node']

const folder = mkdtempSync(join(tmpdir(), 'meridian-client-'))
after(() => rmSync(folder, { recursive: true }))

/** Packs the client and installs that, and nothing else, into the folder. */
before(() => {
  run('npm', ['run', 'build'], ROOT)
  const [archive = ''] = run('npm', ['pack', '--silent', '--pack-destination', folder], ROOT)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, archive)], folder)
})

function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): string[] {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8' })
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  return stdout.trim().split('\n')
}

function sample(name: string): string {
  const [, code] =
    new RegExp(`^<!-- ${name}\\.ts -->\n\n\`\`\`ts\n(.*?)^\`\`\`$`, 'ms').exec(README) ?? []
  assert.ok(code, `README.md has no ${name}.ts`)
  return code
}

/** What the comments of a sample say that it prints. */
function printedBy(code: string): string[] {
  return [...code.matchAll(/(?:console\.log\(.*\) |^)\/\/ (.*)$/gm)].map(([, line = '']) => line)
}

describe('the package', () => {
  it('contains the compiled code and its types, and brings no other package', () => {
    const within = (name: string) => readdirSync(join(folder, 'node_modules', name))
    assert.deepEqual(
      readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.')),
      ['meridian-client'],
    )
    assert.deepEqual(within('meridian-client').toSorted(), [
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ])
    const files = within('meridian-client/dist')
    for (const name of ['index', 'express', 'hono']) {
      assert.ok(files.includes(`${name}.js`) && files.includes(`${name}.d.ts`), name)
    }
  })
})

describe('the samples of README.md', () => {
  before(() => {
    for (const name of PEERS) {
      const link = join(folder, 'node_modules', name)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(join(ROOT, 'node_modules', name), link)
    }
    for (const name of [...PROGRAMS, ...SERVERS])
      writeFileSync(join(folder, `${name}.ts`), sample(name))
  })

  it('have no type errors under strict', () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const files = [...PROGRAMS, ...SERVERS].map((name) => `${name}.ts`)
    run(process.execPath, [tsc, ...STRICT, ...files], folder)
  })

  // Not the Node.js that runs this test, but the one in PATH: the oldest that is at hand.
  for (const name of PROGRAMS) {
    it(`print what they say: ${name}.ts`, () => {
      const expected = printedBy(sample(name))
      assert.ok(expected.length > 0)
      assert.deepEqual(run('node', [`${name}.js`], folder, WITH_BUNDLED_DATA), expected)
    })
  }

  for (const name of SERVERS) {
    it(`greet visitors by their city: ${name}.ts`, async () => {
      const port = await freePort()
      const env = { ...process.env, PORT: String(port) }
      const server = spawn('node', [`${name}.js`], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      try {
        await once(server.stdout, 'data')
        const headers = { 'X-Forwarded-For': '81.2.69.160', 'X-Real-IP': '81.2.69.160' }
        const visited = await fetch(`http://127.0.0.1:${port}/`, { headers })
        assert.equal(await visited.text(), 'Hello London')
        const local = await fetch(`http://127.0.0.1:${port}/`)
        assert.equal(await local.text(), 'Hello stranger')
      } finally {
        server.kill()
        await once(server, 'close')
      }
    })
  }
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // safe: a server that listens on a port has an AddressInfo
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
