import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ICONS } from '../../pages/icons.ts'
import { iconFile } from '../../scripts/release/icon-file.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('pages/icons.ts', () => {
  it('is what npm run docs writes', () => {
    assert.ok(read('pages/icons.ts') === iconFile(), 'pages/icons.ts is stale: run npm run docs')
  })

  it('has only icons that a page shows', () => {
    const pages = globSync('pages/**/*.{ts,tsx}', { cwd: root })
      .filter((path) => !path.endsWith('icons.ts'))
      .map(read)
    const unused = Object.keys(ICONS).filter(
      (name) => !pages.some((text) => new RegExp(`\\b(icon|name)(=|: )['"]${name}['"]`).test(text)),
    )
    assert.deepEqual(unused, [])
  })
})
