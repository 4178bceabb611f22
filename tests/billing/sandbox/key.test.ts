import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId, newSecretKey } from '../../../stripe-double/ids.ts'
import { readTestKey } from './key.ts'

describe('the key of the sandbox', () => {
  it('is a secret key of test mode', () => {
    const key = newSecretKey()
    assert.equal(readTestKey(key), key)
  })

  it('may be missing', () => {
    assert.equal(readTestKey(undefined), null)
    assert.equal(readTestKey(''), null)
  })

  it('is refused if it is live, restricted or of another kind, and never shown', () => {
    for (const prefix of ['sk_live', 'rk_test', 'rk_live', 'pk_test', 'whsec']) {
      const key = newId(prefix)
      assert.throws(
        () => readTestKey(key),
        ({ message }: Error) => /begins with sk_test_/.test(message) && !message.includes(key),
      )
    }
    assert.throws(() => readTestKey(`${newSecretKey()} `))
  })
})
