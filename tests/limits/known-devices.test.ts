import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKnownDevices } from '../../lib/limits/known-devices.ts'

const EMAIL = 'ada@example.com'

const devicesOf = (secret: string, password = 'hash') => createKnownDevices(secret, () => password)

describe('the token of a known device', () => {
  it('gives the device an id of its own for its account, in upper or lower case', () => {
    const devices = devicesOf('secret')
    const tokens = [devices.remember(EMAIL, ''), devices.remember(EMAIL.toUpperCase(), '')]
    const ids = tokens.map((token) => devices.limitId('Ada@example.com', token))
    assert.equal(new Set([...ids, EMAIL]).size, 3)
  })

  it('is ignored if it is of another account, service or password, altered or missing', () => {
    const devices = devicesOf('secret')
    const token = devices.remember(EMAIL, '')
    const [id = '', signature = ''] = token.split('.')
    const foreign = [
      devices.remember('kim@example.com', ''),
      devicesOf('other').remember(EMAIL, ''),
      devicesOf('secret', 'older hash').remember(EMAIL, ''),
    ]
    const changed = [
      `x${id}.${signature}`,
      `${id}.${signature}x`,
      id,
      `.${signature}`,
      '',
      '.',
      '~',
    ]
    for (const bad of [...foreign, ...changed]) {
      assert.equal(devices.limitId(EMAIL, bad), EMAIL, bad)
    }
  })

  it('stays with those of four other accounts', () => {
    const devices = devicesOf('secret')
    const emails = [1, 2, 3, 4, 5, 6].map((n) => `${n}@example.com`)
    const tokens = emails.reduce((all, email) => devices.remember(email, all), '')
    assert.deepEqual(
      emails.filter((email) => devices.limitId(email, tokens) !== email),
      emails.slice(1),
    )
    assert.equal(devices.remember('2@example.com', tokens), tokens)
  })
})
