import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mintKey } from '../../../lib/access/api-key.ts'
import { beginningOf } from '../../../routes/request/exchange.ts'

describe('beginningOf', () => {
  it('shows the first two segments of a path', () => {
    for (const [path, shown] of [
      ['/', '/'],
      ['/v2', '/v2'],
      ['/wp-admin/setup.php', '/wp-admin/setup.php'],
      ['/v1/nothing/secret/more', '/v1/nothing/…'],
      ['/v1/', '/v1/'],
      ['//v1/x', '//v1/…'],
    ] as const) {
      assert.equal(beginningOf(path), shown)
    }
  })

  it('shows no more of a key than its prefix, and no address', () => {
    const { text, prefix } = mintKey('secret')
    assert.equal(beginningOf(`/${text}/x`), `/${prefix}…/x`)
    assert.equal(beginningOf('/81.2.69.160/json'), '/{address}/json')
    assert.equal(beginningOf('/v1/2001:db8::1'), '/v1/{address}')
    assert.equal(beginningOf('/ip=81.2.69.160'), '/ip={address}')
  })
})
