import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sharedScene } from '../../support/scene/scene.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const app = sharedScene()

describe('the page of all parts', () => {
  it('exists on no server', async () => {
    const { status } = await app.user('ada').visit('/app/kit')
    assert.equal(status, 404)
  })

  it('has every part', () => {
    const kit = readFileSync(join(root, 'scripts/kit/kit.tsx'), 'utf8')
    // The first is around the page, the second around texts in lines.
    const frame = ['frame.tsx', 'given.tsx']
    const missing = globSync('pages/dashboard/parts/*.tsx', { cwd: root })
      .map((path) => basename(path))
      .filter((name) => !frame.includes(name) && !kit.includes(`/parts/${name}'`))
    assert.deepEqual(missing, [])
  })
})
