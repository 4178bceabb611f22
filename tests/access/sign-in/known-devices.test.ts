import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKnownDevices } from '../../../lib/access/sign-in/known-devices.ts'

const EMAIL = 'ada@example.com'

const devicesOf = (secret: string, password = 'hash') =>
  createKnownDevices(secret, async () => password)

describe('the token of a known device', () => {
  it('gives the device an id of its own for its account, in upper or lower case', async () => {
    const devices = devicesOf('secret')
    const spellings = [EMAIL, EMAIL.toUpperCase()]
    const tokens = await Array.fromAsync(spellings, (email) => devices.remember(email, ''))
    const ids = await Array.fromAsync(tokens, (token) => devices.limitId(EMAIL, token))
    assert.equal(new Set([...ids, EMAIL]).size, 3)
  })

  it('is ignored if it is of another account, service or password, altered or missing', async () => {
    const devices = devicesOf('secret')
    const token = await devices.remember(EMAIL, '')
    const [id = '', signature = ''] = token.split('.')
    const foreign = [
      await devices.remember('kim@example.com', ''),
      await devicesOf('other').remember(EMAIL, ''),
      await devicesOf('secret', 'older hash').remember(EMAIL, ''),
    ]
    const changed = [
      ...[`x${id}.${signature}`, `${id}.${signature}x`, id, `.${signature}`],
      ...['', '.', '~'],
    ]
    for (const bad of [...foreign, ...changed]) {
      assert.equal(await devices.limitId(EMAIL, bad), EMAIL, bad)
    }
  })

  it('stays with those of four other accounts', async () => {
    const devices = devicesOf('secret')
    const emails = [1, 2, 3, 4, 5, 6].map((n) => `${n}@example.com`)
    let tokens = ''
    for (const email of emails) tokens = await devices.remember(email, tokens)
    const ids = await Array.fromAsync(emails, (email) => devices.limitId(email, tokens))
    const strange = emails.filter((email, at) => ids[at] !== email)
    assert.deepEqual(strange, emails.slice(1))
    assert.equal(await devices.remember('2@example.com', tokens), tokens)
  })
})
