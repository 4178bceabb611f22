import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { sep } from 'node:path'
import { dirname, join } from 'node:path/posix'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { GENERATED_PARTS, withPart } from '../../scripts/release/generated-parts.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** A document that a reader finishes in ten minutes. */
const MOST_WORDS = 1_500
/** Documents in which one looks things up. */
const LONGER = new Map([
  ['docs/api-decisions.md', 3_200],
  ['docs/architecture.md', 2_400],
  ['docs/operations.md', 2_600],
  ['docs/troubleshooting.md', 1_800],
])
const MOST_LINES_OF_README = 150

const documents = new Map(
  globSync('**/*.md', { cwd: root, exclude: (name) => name === 'node_modules' }).map((path) => [
    path.replaceAll(sep, '/'),
    readFileSync(join(root, path), 'utf8'),
  ]),
)

interface Link {
  readonly from: string
  /** Path from the root of the repository. */
  readonly path: string
  /** Heading as in the address; empty for the whole document. */
  readonly heading: string
}

/** Links of a document to files of the repository, except links in code. */
function linksOf(from: string): Link[] {
  const targets = [...withoutCode(documents.get(from) ?? '').matchAll(/\]\(([^)\s]+)\)/g)]
  return targets
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', heading = ''] = target.split('#')
      return { from, path: path === '' ? from : join(dirname(from), path), heading }
    })
}

function withoutCode(text: string): string {
  return text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '')
}

/** Headings of a document as addresses name them on GitHub. */
function headingsOf(path: string): string[] {
  const text = (documents.get(path) ?? '').replace(/^```.*?^```$/gms, '')
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** The document and all documents that its links reach, directly or indirectly. */
function reachFrom(start: string): Set<string> {
  const reached = new Set([start])
  for (const path of reached) {
    for (const link of linksOf(path)) if (documents.has(link.path)) reached.add(link.path)
  }
  return reached
}

const links = [...documents.keys()].flatMap(linksOf)

describe('the documents', () => {
  it('are all reached by links from README.md', () => {
    assert.deepEqual([...reachFrom('README.md')].toSorted(), [...documents.keys()].toSorted())
  })

  it('are each linked from README.md or docs/README.md', () => {
    const listed = ['README.md', 'docs/README.md'].flatMap(linksOf).map(({ path }) => path)
    const missing = [...documents.keys()].filter(
      (path) => path !== 'README.md' && !listed.includes(path),
    )
    assert.deepEqual(missing, [])
  })

  it('link to files that exist', () => {
    assert.ok(links.length > 0)
    const dead = links.filter(({ path }) => !existsSync(join(root, path)))
    assert.deepEqual(dead, [])
  })

  it('link to headings that exist', () => {
    const toHeadings = links.filter(({ heading }) => heading !== '')
    assert.ok(toHeadings.length > 0)
    const dead = toHeadings.filter(({ path, heading }) => !headingsOf(path).includes(heading))
    assert.deepEqual(dead, [])
  })

  it('have at most the words of their caps', () => {
    // The bars and dashes of tables are no words.
    const countWords = (text: string) => text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0
    const tooLong = [...documents].flatMap(([path, text]) => {
      const words = countWords(text)
      const most = LONGER.get(path) ?? MOST_WORDS
      return words > most ? [`${path} has ${words} words, at most ${most}`] : []
    })
    assert.deepEqual(tooLong, [])
  })
})

describe('README.md', () => {
  it(`has at most ${MOST_LINES_OF_README} lines`, () => {
    const lines = (documents.get('README.md') ?? '').split('\n').length - 1
    assert.ok(lines <= MOST_LINES_OF_README, `README.md has ${lines} lines`)
  })
})

describe('the generated part', () => {
  for (const [path, makePart] of Object.entries(GENERATED_PARTS)) {
    it(`of ${path} is what npm run docs writes`, () => {
      const text = readFileSync(join(root, path), 'utf8')
      const isStale = withPart(text, makePart()) !== text
      assert.ok(!isStale, `The generated part of ${path} is stale: run npm run docs`)
    })
  }
})
