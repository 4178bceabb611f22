import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import manifest from '../../package.json' with { type: 'json' }
import { newDataFolder, waitForUrl } from '../support/process.ts'
import { IS_PROJECT_NODE } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** The package has a runtime of its own. */
const skip = !IS_PROJECT_NODE && 'tested once'
const INSTALL_MS = 300_000
/** The cache of whoever runs the tests: the folder is the home of all else. */
const CACHE = spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim()

const folder = tempFolder()
const { settings, remove } = newDataFolder()
const environment = { PATH: process.env['PATH'] ?? '', HOME: folder, ...settings }
const command = join(folder, 'bin', 'meridian')

before(
  () => {
    if (skip === false) install()
  },
  { timeout: INSTALL_MS },
)
after(remove)

/** Packs this clone as the documents say, and installs that, and nothing else, in the folder. */
function install(): void {
  const document = readFileSync('docs/commands.md', 'utf8')
  const [, options = ''] = /`npm pack\b([^`]*)`/.exec(document) ?? []
  const given = options.split(' ').filter((option) => option !== '')
  npm(['pack', ...given, '--silent', '--pack-destination', folder], '.')
  const [, commands = ''] = /^```sh\n(tar .*?)^npx meridian start\n```$/ms.exec(document) ?? []
  const { status, stderr } = spawnSync('sh', ['-e'], {
    cwd: folder,
    env: { ...environment, npm_config_cache: CACHE, npm_config_prefer_offline: 'true' },
    encoding: 'utf8',
    input: commands,
  })
  assert.equal(status, 0, stderr)
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string }>>
}

const readLock = (path: string): Lock => JSON.parse(readFileSync(path, 'utf8'))

/** The files of the package, without what was installed beside them. */
const listPackage = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => !/^(node_modules|\.npm)\b/.test(file),
  )

function npm(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
}

function meridian(
  args: readonly string[],
  input = '',
  more: Readonly<Record<string, string>> = {},
) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    env: { ...environment, ...more },
    encoding: 'utf8',
    input,
  })
  return { status, stdout, stderr }
}

describe('the npm package', { skip }, () => {
  it('says what it lacks if it was packed without being built', () => {
    const unbuilt = tempFolder()
    for (const part of ['bin', 'scripts/node.sh']) {
      cpSync(part, join(unbuilt, part), { recursive: true })
    }
    const { status, stderr } = spawnSync(join(unbuilt, 'bin/meridian'), { encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^This package was not built: pack it with npm pack --ignore-scripts=false\n$/,
    )
  })

  it('contains no TypeScript, tests or data', () => {
    assert.ok(listPackage().includes('dist/server.js'))
    assert.deepEqual(
      listPackage().filter((file) => /\.tsx?$|test|\.mmdb$/.test(file)),
      [],
    )
  })

  it('has the lock file of the clone, which packing did not leave behind', () => {
    const packed = readFileSync(join(folder, 'npm-shrinkwrap.json'), 'utf8')
    assert.equal(packed, readFileSync('package-lock.json', 'utf8'))
    assert.equal(existsSync('npm-shrinkwrap.json'), false)
  })

  it('is installed with the locked version of each package', () => {
    const { packages: locked } = readLock('package-lock.json')
    const installed = Object.entries(
      readLock(join(folder, 'node_modules/.package-lock.json')).packages,
    )
    assert.ok(installed.length > 50)
    for (const [path, { version }] of installed) assert.equal(version, locked[path]?.version, path)
  })

  it('is installed without install scripts', () => {
    // Its install script replaces this file by the program.
    const file = join(folder, 'node_modules/esbuild/bin/esbuild')
    assert.match(readFileSync(file, 'latin1'), /^#!\/usr\/bin\/env node\n/)
  })

  it('lists its commands', () => {
    const { status, stdout } = meridian(['--help'])
    assert.equal(status, 0)
    for (const name of ['start', 'key', 'locate', 'grepip', 'doctor', 'restore'])
      assert.match(stdout, new RegExp(`^  ${name} `, 'm'))
  })

  it('says its version', () => {
    assert.equal(meridian(['--version']).stdout, `${manifest.version}\n`)
  })

  it('refuses an unknown command', () => {
    const { status, stdout, stderr } = meridian(['toString'])
    assert.deepEqual(
      [status, stdout, stderr],
      [2, '', 'There is no command toString: npx meridian help lists all\n'],
    )
    const misspelt = meridian(['backpu']).stderr
    assert.match(misspelt, /^There is no command backpu: did you mean backup\? [^\n]*\n$/)
  })

  it('serves look-ups with a key that it made', async () => {
    const key = meridian(['key', '--email', 'you@example.com', '--name', 'first']).stdout.trim()
    const child = spawn(command, ['start'], { cwd: folder, env: { ...environment, PORT: '0' } })
    const server = await waitForUrl(child)
    try {
      const response = await fetch(`${server.url}/v1/ip/81.2.69.160`, {
        headers: { 'X-API-Key': key },
      })
      assert.equal(response.status, 200)
      const page = await (await fetch(server.url)).text()
      const files = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path)
      assert.ok(files.length > 1, page)
      for (const file of files) assert.equal((await fetch(`${server.url}${file}`)).status, 200)
      assert.doesNotMatch(server.output(), /npm run/)
      const client = { MERIDIAN_URL: server.url, MERIDIAN_KEY: key }
      const { stdout, stderr } = meridian(['summarize', '--json'], '81.2.69.160\n', client)
      assert.equal(JSON.parse(stdout).countries[0]?.code, 'GB', stderr)
    } finally {
      assert.equal((await server.stop('SIGTERM')).code, 0)
    }
  })

  it('looks up a list without a server', () => {
    const { status, stdout } = meridian(['locate'], '81.2.69.160\nnope\n')
    assert.equal(status, 0)
    const [found, refused] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(found.query.value, '81.2.69.160')
    assert.equal(refused.error.code, 'BAD_REQUEST')
  })

  it('finds the addresses in a text, and draws them on a map', () => {
    const found = meridian(['grepip', '-ox'], 'from 10.0.0.1 to 81.2.69.160\n')
    assert.deepEqual([found.status, found.stdout], [0, '81.2.69.160\n'], found.stderr)
    const { status, stderr } = meridian(['map', '--out', 'map.html'], found.stdout)
    assert.equal(status, 0, stderr)
    assert.match(readFileSync(join(folder, 'map.html'), 'utf8'), /around London, GB: 1 row/)
  })

  it('backs up and restores', () => {
    const archive = meridian(['backup']).stdout.trim()
    assert.ok(existsSync(archive), archive)
    const { status, stderr } = meridian(['restore', archive, '--overwrite'])
    assert.equal(status, 0, stderr)
    assert.match(meridian(['user', '--list']).stdout, /you@example\.com/)
  })

  it('names itself, not npm run, in usages and advice', () => {
    const lists = ['locate', 'summarize', 'map', 'grepip', 'geo']
    const others = ['doctor', 'backup', 'restore', 'migrate', 'billing', 'contact', 'openapi']
    for (const name of ['key', 'user', ...lists, ...others]) {
      const { stdout, stderr } = meridian([name, '--help'])
      assert.match(`${stdout}${stderr}`, new RegExp(`Usage: npx meridian ${name}`))
      assert.doesNotMatch(`${stdout}${stderr}`, /npm run/)
    }
  })

  it('completes commands and options in bash', () => {
    assert.deepEqual(completions(['meridian', 'do']), ['doctor'])
    assert.deepEqual(completions(['meridian', 'backup', '--k']), ['--keep'])
    assert.deepEqual(completions(['meridian', 'grepip', '--o']), ['--only-matching'])
    assert.deepEqual(completions(['meridian', 'map', '--u']), ['--url'])
  })

  for (const shell of ['bash', 'zsh', 'fish']) {
    const missing = spawnSync('which', [shell]).status !== 0 && `no ${shell} here`
    it(`has completions that ${shell} can read`, { skip: missing }, () => {
      const { stdout } = meridian(['completion', shell])
      const { status, stderr } = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    })
  }
})

/** What bash offers for the last of these words. */
function completions(words: readonly string[]): string[] {
  const { stdout: script } = meridian(['completion', 'bash'])
  const ask = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _meridian; echo "\${COMPREPLY[@]}"`
  const { stdout } = spawnSync('bash', { input: `${script}\n${ask}\n`, encoding: 'utf8' })
  return stdout.trim().split(' ')
}
