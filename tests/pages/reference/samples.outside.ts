import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Operation } from '../../../lib/contract/operation.ts'
import { operations } from '../../../lib/contract/operations.ts'
import { pythonValue } from '../../../pages/reference/samples/literal.ts'
import { KEY_PLACEHOLDER } from '../../../pages/reference/samples/request.ts'
import { newDataFolder, type Running, runScript, startServer } from '../../support/process.ts'
import { type Language, samplesIn } from './samples-in.ts'

const rows: readonly Operation[] = operations
/** Those whose answer has a body. */
const lookUps = rows.filter(
  ({ access, method, replies }) => access === 'geo:read' && method === 'get' && 200 in replies,
)

const folder = mkdtempSync(join(tmpdir(), 'meridian-samples-'))
const { settings, remove } = newDataFolder()
let server: Running
let key: string
before(async () => {
  server = await startServer(settings)
  const options = [
    '--email',
    'ada@example.com',
    '--name',
    'first',
    '--plan',
    'pro',
    '--scopes',
    'all',
  ]
  key = (await runScript(['scripts/key.ts', ...options], settings)).stdout.trim()
})
after(async () => {
  await server.stop('SIGTERM')
  remove()
  rmSync(folder, { recursive: true })
})

/** The samples on the page of the operation. */
async function samplesOf({ id }: Pick<Operation, 'id'>): Promise<Record<Language, string>> {
  const page = await fetch(`${server.url}/docs/operations/${id}`)
  assert.equal(page.status, 200, id)
  return samplesIn(await page.text())
}

/** What the API answers to the example request of a look-up. */
async function answerTo({ path, params = {} }: Operation) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => params[name]?.example ?? '')
  const response = await fetch(`${server.url}${filled}`, { headers: { 'x-api-key': key } })
  return { status: response.status, body: withoutId(await response.json()) }
}

/** Each answer has another id. */
function withoutId(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body).replace(/"requestId":"[^"]*"/, '"requestId":""'))
}

function save(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text.replaceAll(KEY_PLACEHOLDER, key))
  return file
}

const run = (command: string, args: readonly string[]) =>
  execFileSync(command, [...args], { encoding: 'utf8', cwd: folder, stdio: 'pipe' })

const isInstalled = (command: string) => spawnSync(command, ['--version']).error === undefined

describe('the samples of a look-up', () => {
  it('are of all look-ups', () => {
    assert.ok(lookUps.length >= 5)
  })

  for (const row of lookUps) {
    it(`get in curl, TypeScript and Python what the API answers: ${row.id}`, async () => {
      const { status, body } = await answerTo(row)
      const { curl, typescript, python } = await samplesOf(row)
      assert.deepEqual(withoutId(JSON.parse(run('sh', ['-c', silently(curl)]))), body)
      const show = typescript.replace(/await response\.json\(\)/, 'JSON.stringify($&)')
      assert.deepEqual(read(run(process.execPath, [save(`${row.id}.ts`, show)])), [status, body])
      const script = python.replace(/json\.load\(response\)/, 'json.dumps($&)')
      assert.deepEqual(read(run('python3', [save(`${row.id}.py`, script)])), [status, body])
    })
  }

  const silently = (curl: string) =>
    curl.replaceAll(KEY_PLACEHOLDER, key).replace(/^curl/, 'curl --silent')
  const read = (output: string) => {
    const [, status, json = ''] = /^(\d+) (.*)\n$/s.exec(output) ?? assert.fail(output)
    return [Number(status), withoutId(JSON.parse(json))]
  }
})

describe('the samples of all operations', () => {
  it('are programs that their languages accept', async (t) => {
    const files = { py: join(folder, 'all.py'), php: join(folder, 'php') }
    mkdirSync(files.php)
    const pythons: string[] = []
    for (const row of rows) {
      const { curl, typescript, python, go, php } = await samplesOf(row)
      assert.equal(spawnSync('sh', ['-n', '-c', curl]).status, 0, curl)
      assert.ok(stripTypeScriptTypes(typescript) !== '')
      pythons.push(python)
      save(`${row.id}.go`, `${go}\n`)
      writeFileSync(join(files.php, `${row.id}.php`), php)
    }
    const program = `import ast, json, sys\nfor text in json.load(sys.stdin): ast.parse(text)`
    execFileSync('python3', ['-c', program], { input: JSON.stringify(pythons) })
    if (isInstalled('gofmt')) {
      const goFiles = rows.map(({ id }) => `${id}.go`)
      assert.equal(run('gofmt', ['-l', ...goFiles]), '')
    } else t.diagnostic('gofmt is not installed')
    if (isInstalled('php')) {
      for (const name of readdirSync(files.php)) run('php', ['-l', join(files.php, name)])
    } else t.diagnostic('php is not installed')
  })

  for (const id of ['locateCaller', 'exportAccount', 'deleteSite']) {
    it(`print code and message of an error: ${id}`, async (t) => {
      const { curl, typescript, python, go } = await samplesOf({ id })
      // The placeholder is not a key.
      const written = (name: string, text: string) => {
        writeFileSync(join(folder, name), text)
        return name
      }
      const printed = [
        run('sh', ['-c', curl]),
        run(process.execPath, [written('error.ts', typescript)]),
        run('python3', [written('error.py', python)]),
      ]
      if (isInstalled('gofmt')) printed.push(run('go', ['run', written('error.go', go)]))
      else t.diagnostic('Go is not installed')
      for (const text of printed) assert.match(text, /UNAUTHORIZED.*A valid API key/s)
    })
  }

  it('send a body in curl, TypeScript and Python', async () => {
    const { curl, typescript, python } = await samplesOf({ id: 'locateBatch' })
    const filled = curl.replaceAll(KEY_PLACEHOLDER, key).replace(/^curl/, 'curl --silent')
    assert.match(run('sh', ['-c', filled]), /London/)
    assert.match(run(process.execPath, [save('batch.ts', typescript)]), /^200 .*results/s)
    assert.match(run('python3', [save('batch.py', python)]), /^200 .*London/)
  })
})

describe('a value in a sample', () => {
  it('is the same to Python', () => {
    const given = fc.sample(fc.jsonValue(), { numRuns: 300, seed: 1 })
    const list = given.map((value) => pythonValue(value)).join(',')
    const input = `import json\nprint(json.dumps([${list}]))`
    const printed: unknown = JSON.parse(execFileSync('python3', ['-'], { input, encoding: 'utf8' }))
    assert.deepEqual(printed, JSON.parse(JSON.stringify(given)))
  })
})
