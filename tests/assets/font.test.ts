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

  it('is named in the style sheet with its owner and licence', async () => {
    const css = Buffer.from((await loadAsset('site.css')).bytes).toString()
    assert.match(
      css,
      /\/\*! Geist: Copyright 2024 The Geist Project Authors, SIL Open Font License/,
    )
  })
})
