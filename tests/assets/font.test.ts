import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadAsset } from '../../lib/assets/page-assets.ts'

const MOST_BYTES = 40_000

describe('the font of the pages', () => {
  it(`has at most ${MOST_BYTES} bytes, at the address that the style sheet names`, async () => {
    const { bytes, hash } = await loadAsset('geist.woff2')
    assert.ok(bytes.length <= MOST_BYTES, `${bytes.length} bytes`)
    const css = Buffer.from((await loadAsset('site.css')).bytes).toString()
    assert.ok(css.includes(`url(./geist.${hash}.woff2)`), css.slice(0, 300))
  })

  it('makes, with the other files of each page of the dashboard, less than 40 kB compressed', async () => {
    const [font, ...others] = await Promise.all(
      (['geist.woff2', 'site.css', 'app.css', 'app.js'] as const).map((name) => loadAsset(name)),
    )
    const sizes = [font?.bytes.length ?? 0, ...others.map(({ gzipped }) => gzipped.length)]
    const sum = sizes.reduce((total, size) => total + size, 0)
    assert.ok(sum < 40_000, `${sizes.join(' + ')} bytes`)
  })

  it('is named in the style sheet with its owner and licence', async () => {
    const css = Buffer.from((await loadAsset('site.css')).bytes).toString()
    assert.match(
      css,
      /\/\*! Geist: Copyright 2024 The Geist Project Authors, SIL Open Font License/,
    )
  })
})
