import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from '../../lib/config/config.ts'
import { findSimilar } from '../../lib/config/did-you-mean.ts'
import { Environment } from '../../lib/config/environment.ts'

describe('a setting of another service', () => {
  it('is refused if it looks like a slip of ours', () => {
    for (const [name, meant] of [
      ['STRIPE_SECRET_KY', 'STRIPE_SECRET_KEY'],
      ['STRIPE_WEBHOOK_SECERT', 'STRIPE_WEBHOOK_SECRET'],
      ['TURNSTILE_SECRETKEY', 'TURNSTILE_SECRET_KEY'],
    ] as const) {
      const problem = new RegExp(`unknown setting ${name}, did you mean ${meant}\\?$`)
      assert.throws(() => readConfig({ [name]: 'x' }), problem)
    }
  })

  it('is left alone if it may be of another program', () => {
    for (const name of [
      'STRIPE_API_KEY',
      'STRIPE_PUBLISHABLE_KEY',
      'STRIPE_PRICE_TEAM',
      'TURNSTILE_SITE_KEY',
    ]) {
      assert.doesNotThrow(() => readConfig({ [name]: 'x' }), name)
    }
  })
})

describe('findSimilar', () => {
  const names = Object.keys(Environment.entries)

  it('finds a setting by a name with missing underscores, a wrong prefix or a misspelling', () => {
    for (const [given, meant] of [
      ['MERIDIAN_SIGNUP', 'MERIDIAN_SIGN_UP'],
      ['MERIDIAN_DATADIR', 'MERIDIAN_DATA_DIR'],
      ['MERIDIAN_PORT', 'PORT'],
      ['MERIDIAN_GEOO', 'MERIDIAN_GEO'],
      ['MERIDIAN_BASEURL', 'MERIDIAN_BASE_URL'],
      ['MERIDIAN_LOG_LEVLE', 'MERIDIAN_LOG_LEVEL'],
      ['MERIDIAN_STRIPE_SECRET_KEY', 'STRIPE_SECRET_KEY'],
    ] as const) {
      assert.equal(findSimilar(given, names), meant, given)
    }
  })

  it('finds nothing for a name that is like none', () => {
    for (const given of ['MERIDIAN_X', 'MERIDIAN_', 'MERIDIAN_COLOUR_OF_THE_SKY']) {
      assert.equal(findSimilar(given, names), undefined, given)
    }
  })

  it('finds every setting by its own name', () => {
    for (const name of names) assert.equal(findSimilar(name, names), name)
  })
})
