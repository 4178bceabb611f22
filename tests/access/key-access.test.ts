import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { toKeyAccess, type WantedAccess } from '../../lib/access/key-access.ts'
import { isWithin, toScopes } from '../../lib/access/scopes.ts'
import { SCOPES, type Scope } from '../../lib/contract/operation.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { words } from '../support/words.ts'

const subset = fc.subarray([...SCOPES])
const held = fc.option(subset, { nil: null })
const names = fc.array(fc.constantFrom(...SCOPES, 'location:read'), { maxLength: 12 })

function messageOf(wanted: WantedAccess): string {
  try {
    toKeyAccess(wanted)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'BAD_REQUEST')
    return error.message
  }
  return 'none'
}

describe('scopes', () => {
  it('are within other scopes if those include each of them; null means every scope', () => {
    const all = (scopes: readonly Scope[] | null): readonly string[] =>
      scopes ?? [...SCOPES, 'all that will be']
    fc.assert(
      fc.property(held, held, (wanted, own) => {
        const missing = all(wanted).filter((scope) => !all(own).includes(scope))
        assert.equal(isWithin(wanted, own), missing.length === 0)
      }),
      { numRuns: 2_000 },
    )
  })

  it('are stored once each in a fixed order, with location:read as geo:read', () => {
    fc.assert(
      fc.property(names, (given) => {
        const scopes = toScopes(given)
        const expected = new Set(given.map((n) => (n === 'location:read' ? 'geo:read' : n)))
        assert.deepEqual(new Set<string>(scopes), expected)
        const ordered = SCOPES.filter((scope) => expected.has(scope))
        assert.deepEqual(scopes, ordered)
      }),
    )
  })
})

describe('toKeyAccess', () => {
  const origins = ['https://app.example']

  it('gives full access to a secret key without scopes', () => {
    assert.deepEqual(toKeyAccess({ type: 'secret' }), { scopes: null, allowedOrigins: null })
  })

  it('gives a secret key the scopes that it names', () => {
    const scopes = ['billing:read', 'location:read', 'geo:read', 'billing:read']
    const expected = { scopes: ['geo:read', 'billing:read'], allowedOrigins: null }
    assert.deepEqual(toKeyAccess({ type: 'secret', scopes }), expected)
  })

  it('gives geo:read to every publishable key', () => {
    const expected = { scopes: ['geo:read'], allowedOrigins: origins }
    for (const scopes of [undefined, ['geo:read'], ['location:read'], ['geo:read', 'geo:read']]) {
      const wanted = { type: 'publishable', scopes, allowedOrigins: origins } as const
      assert.deepEqual(toKeyAccess(wanted), expected)
    }
  })

  it('normalises origins and removes duplicates', () => {
    const allowedOrigins = words(`
      HTTPS://App.Example:443 https://*.shop.example https://app.example http://localhost:3000`)
    const normal = words('https://app.example https://*.shop.example http://localhost:3000')
    const access = toKeyAccess({ type: 'publishable', allowedOrigins })
    assert.deepEqual(access.allowedOrigins, normal)
  })

  it('refuses access that does not fit the type of the key', () => {
    const secret = { type: 'secret', allowedOrigins: origins } as const
    assert.match(messageOf(secret), /^allowedOrigins: a secret key/)
    for (const scopes of [['account:read'], ['geo:read', 'billing:write']]) {
      const publishable = { type: 'publishable', scopes, allowedOrigins: origins } as const
      assert.match(messageOf(publishable), /^scopes: a publishable key can only have geo:read/)
    }
    for (const allowedOrigins of [undefined, []]) {
      assert.match(messageOf({ type: 'publishable', allowedOrigins }), /^allowedOrigins: a publish/)
    }
  })

  it('refuses a bad pattern and quotes it', () => {
    for (const bad of ['*', 'https://*.com', 'http://app.example', 'https://app.example/path']) {
      const message = messageOf({ type: 'publishable', allowedOrigins: [...origins, bad] })
      assert.ok(message.startsWith('allowedOrigins: ') && message.endsWith(`got "${bad}"`), message)
    }
  })
})
