import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

const root = new URL('../../', import.meta.url)
const DOCS = readFileSync(new URL('docs/security.md', root), 'utf8')

/** Rows of the table of risks: risk, where it is handled, test. */
const rows = DOCS.split('\n')
  .filter((line) => /^\| API\d+ /.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))

/** Paths that stand in `text` as code. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`((?:lib|routes|tests|scripts|server)[\w/.-]*\.ts)`/g)].map(
    ([, path = '']) => path,
  )
}

describe('docs/security.md', () => {
  it('has a row for each of the ten risks, with its place and its test', () => {
    assert.deepEqual(
      rows.map(([, risk = '']) => /^API\d+/.exec(risk)?.[0]),
      Array.from({ length: 10 }, (_, n) => `API${n + 1}`),
    )
    for (const [, risk = '', place = '', test = ''] of rows) {
      assert.ok(pathsIn(place).length > 0, risk)
      const tests = pathsIn(test)
      assert.ok(tests.length > 0 && tests.every((path) => path.startsWith('tests/')), risk)
    }
  })

  it('names files that exist', () => {
    for (const path of pathsIn(DOCS)) assert.ok(existsSync(new URL(path, root)), path)
  })
})
