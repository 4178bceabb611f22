import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { extract } from 'tar'
import { dateSection, makeRelease } from '../../scripts/release/make-release.ts'
import { tempFolder } from '../support/temp-folder.ts'

const DATE = '2026-01-31'
const CHANGELOG = `# Changelog

## [1.3.0] - unreleased

### Added

- Find *this*.

## [1.2.0] - 2025-12-01

- Find that.
`

/** A clone of a small repository, which begins with version 1.2.0. */
function cloneRepository(changelog = CHANGELOG) {
  const parent = tempFolder()
  const [origin, clone] = [join(parent, 'origin.git'), join(parent, 'clone')]
  const gitIn = (folder: string, ...args: readonly string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  gitIn(parent, 'init', '--quiet', '--bare', '--initial-branch=main', origin)
  gitIn(parent, 'clone', '--quiet', origin, clone)
  const git = (...args: readonly string[]) => gitIn(clone, ...args).trim()
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.com')
  // Git for Windows sets it, and would pack other bytes.
  git('config', 'core.autocrlf', 'false')
  const manifest = { name: 'meridian', version: '1.2.0', dependencies: { part: 'file:part' } }
  const put = (name: string, content: string) => writeFileSync(join(clone, name), content)
  put('package.json', `${JSON.stringify(manifest, undefined, 2)}\n`)
  mkdirSync(join(clone, 'part'))
  put('part/package.json', JSON.stringify({ name: 'part', version: '1.0.0' }))
  const packages = {
    '': manifest,
    'node_modules/part': { resolved: 'part', link: true },
    part: { version: '1.0.0' },
  }
  const lock = { name: manifest.name, version: manifest.version, lockfileVersion: 3, packages }
  put('package-lock.json', JSON.stringify(lock))
  put('CHANGELOG.md', changelog)
  git('add', '--all')
  git('commit', '--quiet', '--message=Begin')
  git('push', '--quiet', 'origin', 'HEAD:main')
  const out = join(parent, 'dist')
  return {
    git,
    put,
    out,
    read: (name: string) => readFileSync(join(clone, name), 'utf8'),
    atOrigin: () => gitIn(origin, 'for-each-ref'),
    release: (version: string) => makeRelease({ repository: clone, version, date: DATE, out }),
    unpack: (file: string) => extract({ file, cwd: out, sync: true }),
  }
}

describe('makeRelease', () => {
  it('commits the dated changelog and the version, tags and packs it, and pushes nothing', () => {
    const { git, read, release, unpack, out, atOrigin } = cloneRepository()
    const before = atOrigin()
    const { tag, archives } = release('1.3.0')
    const [archive = '', ...installed] = archives
    assert.equal(tag, 'v1.3.0')
    assert.equal(read('CHANGELOG.md'), CHANGELOG.replace('unreleased', DATE))
    for (const name of ['package.json', 'package-lock.json']) {
      assert.deepEqual(read(name).match(/1\.[23]\.0/g)?.[0], '1.3.0', name)
    }
    const { packages } = JSON.parse(read('package-lock.json'))
    assert.equal(packages[''].version, '1.3.0')
    assert.equal(git('status', '--porcelain'), '')
    assert.equal(git('log', '-1', '--format=%s'), 'release: 1.3.0')
    assert.equal(git('rev-parse', `${tag}^{commit}`), git('rev-parse', 'HEAD'))
    const message = git('tag', '--list', '--format=%(contents)', tag)
    assert.equal(message, 'Meridian 1.3.0\n\n### Added\n\n- Find *this*.')
    assert.equal(atOrigin(), before)

    const hash = createHash('sha256').update(readFileSync(archive)).digest('hex')
    assert.equal(readFileSync(`${archive}.sha256`, 'utf8'), `${hash}  meridian-1.3.0.tar.gz\n`)
    unpack(archive)
    const packed = join(out, 'meridian-1.3.0')
    const names = git('ls-tree', '--name-only', 'HEAD').split('\n')
    assert.deepEqual(readdirSync(packed).toSorted(), names.toSorted())
    assert.equal(readFileSync(join(packed, 'CHANGELOG.md'), 'utf8'), read('CHANGELOG.md'))

    const machines = ['x64', 'arm64'].map((cpu) => `meridian-1.3.0-linux-${cpu}.tar.gz`)
    assert.deepEqual(
      installed.map((path) => basename(path)),
      machines,
    )
    assert.deepEqual(
      readdirSync(out).toSorted(),
      [...archives, packed]
        .flatMap((path) =>
          path === packed ? [basename(path)] : [basename(path), `${basename(path)}.sha256`],
        )
        .toSorted(),
    )
  })

  it('packs the packages, too, so that a machine needs no npm ci', () => {
    const { release, unpack, out } = cloneRepository()
    for (const archive of release('1.3.0').archives.slice(1)) {
      unpack(archive)
      const packed = join(out, 'meridian-1.3.0')
      const part = JSON.parse(readFileSync(join(packed, 'node_modules/part/package.json'), 'utf8'))
      assert.equal(part.name, 'part')
      rmSync(packed, { recursive: true })
    }
  })

  it('makes the first release of the version that the package has', () => {
    const { git, release } = cloneRepository(CHANGELOG.replace('1.3.0', '1.2.0'))
    release('1.2.0')
    assert.equal(git('tag'), 'v1.2.0')
  })

  type Prepare = (at: ReturnType<typeof cloneRepository>) => void
  const CHANGES = /has changes: commit/
  const REFUSED: Readonly<Record<string, [RegExp, Prepare]>> = {
    'a change that is not committed': [CHANGES, ({ put }) => put('package.json', '{}')],
    'a new file': [CHANGES, ({ put }) => put('new.txt', '')],
    'a tag of this version': [/is a tag v1\.3\.0 already/, ({ git }) => git('tag', 'v1.3.0')],
    'no name for the commit': [/empty ident name/, ({ git }) => git('config', 'user.name', '')],
  }
  for (const [name, [message, prepare]] of Object.entries(REFUSED)) {
    it(`refuses and changes nothing: ${name}`, () => {
      const at = cloneRepository()
      prepare(at)
      const asked = [['status', '--porcelain'], ['rev-parse', 'HEAD'], ['tag']]
      const state = () => asked.map((args) => at.git(...args))
      const before = state()
      assert.throws(() => at.release('1.3.0'), message)
      assert.deepEqual(state(), before)
    })
  }

  it('refuses what is not a version', () => {
    const { release } = cloneRepository()
    for (const version of ['', 'v1.3.0', '1.3', '1.03.0', '1.3.0;x', '--help']) {
      assert.throws(() => release(version), /must be one such as 1\.2\.3, got/)
    }
  })
})

describe('dateSection', () => {
  it('refuses a changelog without the section, with two, or with an empty one', () => {
    const refused = (text: string, message: RegExp) =>
      assert.throws(() => dateSection(text, '1.3.0', DATE), message)
    refused(CHANGELOG.replace('1.3.0', '1.4.0'), /must have one heading "## \[1\.3\.0\] - unr/)
    refused(CHANGELOG.replace('unreleased', '2026-01-01'), /must have one heading/)
    refused(CHANGELOG + CHANGELOG, /must have one heading/)
    refused(CHANGELOG.replace('- Find *this*.', ''), /lists no changes of 1\.3\.0/)
  })
})
