import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import manifest from '../../package.json' with { type: 'json' }
import { testFiles } from '../support/runner/test-files.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const DOCS = read('docs/security.md')
const SCOPE = read('SECURITY.md')

/** Sentences without a test begin so. */
const UNTESTED = /^Not tested here: /

/** What the npm commands for tests run. */
const RUN = Object.values(manifest.scripts).flatMap((command) => {
  const [, kind] = / tests\/run\.ts (\w+)$/.exec(command) ?? []
  return kind === undefined ? [] : testFiles(kind, [])
})

/** Paths of files, and of folders (with a slash at the end), that `text` shows as code. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`((?:lib|routes|tests|scripts|server)[\w/.-]*(?:\.ts|\/))`/g)].map(
    ([, path = '']) => path,
  )
}

const testsIn = (text: string) => pathsIn(text).filter((path) => path.startsWith('tests/'))

/** Whether an npm command runs the file, or at least one file of the folder. */
function isRun(path: string): boolean {
  const files = path.endsWith('/') ? globSync(`${path}**/*.ts`) : [path]
  return files.some((file) => RUN.includes(join(file)))
}

/** The paragraphs, list items and rows of tables in a section, without its heading. */
function claimsIn(section: string): string[] {
  const lines = section.split('\n').slice(1)
  return lines.filter((line) => line.trim() !== '' && !/^\| (Risk|-+) /.test(line))
}

/** The sentences of a claim; the cells of a row of the table are one. Each ends with its tests, after a colon. */
function sentencesIn(claim: string): string[] {
  return claim.startsWith('|')
    ? [claim]
    : claim.replace(/^- /, '').split(/(?<=\.) (?=[A-Z`[]|npm |node:)/)
}

/** Everything below a heading `## `. */
const sectionsOf = (text: string) => text.split(/^## /m).slice(1)

/** Rows of the table of risks: risk, place in the code, test. */
const rows = DOCS.split('\n')
  .filter((line) => /^\| API\d+ /.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))

describe('docs/security.md', () => {
  it('has a row for each of the ten risks, with its place and its test', () => {
    assert.deepEqual(
      rows.map(([, risk = '']) => /^API\d+/.exec(risk)?.[0]),
      Array.from({ length: 10 }, (_, n) => `API${n + 1}`),
    )
    for (const [, risk = '', place = '', test = ''] of rows) {
      assert.ok(pathsIn(place).length > 0, risk)
      assert.ok(testsIn(test).length > 0 && pathsIn(test).length === testsIn(test).length, risk)
    }
  })

  it('names a test for each sentence, or says that there is none', () => {
    const sentences = sectionsOf(DOCS).flatMap(claimsIn).flatMap(sentencesIn)
    assert.ok(sentences.length > 40)
    const unproved = sentences.filter((one) => testsIn(one).length === 0 && !UNTESTED.test(one))
    assert.deepEqual(unproved, [])
  })
})

describe('SECURITY.md', () => {
  it('names a test for each sentence about a defence', () => {
    const defended = sectionsOf(SCOPE).find((text) => text.startsWith('What Meridian defends\n'))
    const claims = claimsIn(defended ?? '').filter((line) => line.startsWith('- '))
    assert.ok(claims.length > 5)
    for (const claim of claims.flatMap(sentencesIn)) assert.ok(testsIn(claim).length > 0, claim)
  })
})

describe('the documents about security', () => {
  it('name files and folders that exist', () => {
    for (const path of pathsIn(DOCS + SCOPE)) assert.ok(existsSync(new URL(path, root)), path)
  })

  it('name only tests that an npm command runs', () => {
    assert.ok(RUN.length > 5)
    for (const path of testsIn(DOCS + SCOPE)) assert.ok(isRun(path), path)
  })
})
