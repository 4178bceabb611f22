import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { sep } from 'node:path'
import { dirname, join } from 'node:path/posix'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isMarked, MARKS, testFiles } from '../support/runner/test-files.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SOURCES = '{admin,bench,lib,main,pages,routes,scripts,stripe-double,tests,web}/**/*'
const MOST_FILES = 20
/** A file directly in lib/parts/ serves at least this many other rooms. */
const LEAST_ROOMS = 3

/** Sequences, which only grow. */
const MIGRATIONS = ['lib/db/migrations', 'lib/postgres/migrations']

const files = globSync(SOURCES, { cwd: ROOT, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length).replaceAll(sep, '/'))

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The first two folders of a path: `lib/geo` of `lib/geo/mmdb/mmdb.ts`. */
function roomOf(path: string): string {
  return dirname(path).split('/').slice(0, 2).join('/')
}

function importersOf(target: string): string[] {
  return files.filter(
    (file) =>
      file.endsWith('.ts') &&
      !file.startsWith('tests/') &&
      [...read(file).matchAll(/from '(\.[^']+)'/g)].some(
        ([, specifier = '']) => join(dirname(file), specifier) === target,
      ),
  )
}

describe('a folder', () => {
  it(`holds at most ${MOST_FILES} files`, () => {
    const folders = Map.groupBy(files, (file) => dirname(file))
    const large = [...folders].filter(
      ([folder, within]) => within.length > MOST_FILES && !MIGRATIONS.includes(folder),
    )
    assert.deepEqual(
      large.map(([folder, within]) => `${folder}: ${within.length}`),
      [],
    )
  })
})

describe('a file directly in lib/parts/', () => {
  for (const file of files.filter((path) => dirname(path) === 'lib/parts')) {
    it(`serves at least ${LEAST_ROOMS} rooms: ${file}`, () => {
      const rooms = new Set(importersOf(file).map(roomOf))
      assert.ok(rooms.size >= LEAST_ROOMS, [...rooms].join(', '))
    })
  }
})

describe('a test file', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const ci = read('.ci/run')
  const withTests = files.filter(
    (file) => file.startsWith('tests/') && /from 'node:test'/.test(read(file)) && isTest(file),
  )
  const kinds = new Set(withTests.map((file) => /\.([a-z0-9]+)\.ts$/.exec(file)?.[1] ?? file))

  it('has one of six kinds in its name, each of which an npm script runs for all folders', () => {
    assert.equal(kinds.size, 6, [...kinds].join())
    for (const kind of kinds) {
      const script: string = scripts[kind === 'test' ? 'test' : `test:${kind}`] ?? ''
      assert.ok(script.endsWith(` tests/run.ts ${kind}`), `${kind}: ${script}`)
      const within = withTests.filter((file) => file.endsWith(`.${kind}.ts`))
      assert.deepEqual(
        within.filter((file) => !testFiles(kind, []).includes(join(file))),
        [],
      )
    }
  })

  it('is run by .ci/run, whatever its kind', () => {
    for (const kind of kinds) {
      const command = kind === 'test' ? 'npm test' : `npm run test:${kind}`
      assert.ok(new RegExp(`\\b${command}\\n`).test(ci), command)
    }
  })

  it('has only marks that the runner knows', () => {
    for (const file of withTests) {
      const [line] = /^\/\/ run:.*/m.exec(read(file)) ?? []
      assert.ok(line === undefined || MARKS.some((mark) => isMarked(file, mark)), line)
    }
  })
})

/** Some support files only register hooks such as `after`. */
function isTest(file: string): boolean {
  return /\b(it|test)\(/.test(read(file))
}
