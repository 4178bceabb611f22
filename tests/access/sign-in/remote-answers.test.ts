import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFindRemoteSession } from '../../../lib/access/sign-in/remote-auth.ts'
import { NOON } from '../../support/helpers.ts'
import { startLoopbackServer } from '../../support/loopback-server.ts'

const USER = { id: 'r1', name: 'Ada', email: 'ada@example.com', emailVerified: true }

/** Who is adopted if the service says that the session is of this user; the error's code if nobody is. */
async function adoptedFor(said: object): Promise<unknown> {
  const session = { expiresAt: new Date(NOON + 60_000).toISOString() }
  await using server = await startLoopbackServer((_, response) => {
    response.end(JSON.stringify({ session, user: { ...USER, ...said } }))
  })
  const adopted: unknown[] = []
  const find = createFindRemoteSession({
    url: server.origin,
    adopt: async (user) => {
      adopted.push(user)
      return user.id
    },
    onSession: async () => {},
    findUser: async () => null,
    onFailure: () => {},
  })
  await find('x'.repeat(32), NOON, undefined)
  return adopted[0]
}

describe('the user in an answer of the auth service', () => {
  it('may have any usual id and address', async () => {
    for (const said of [{}, { id: 'auth0|5f7c8e.a:b@c' }, { email: "o'brien+x@mail.example" }]) {
      assert.deepEqual(await adoptedFor(said), { ...USER, ...said })
    }
  })

  for (const said of [
    { id: '../../<x9z>' },
    { id: 'a\u0000b' },
    { id: '..' },
    { id: '' },
    { email: 'demo' },
    { email: '"><x9z>@example.com' },
    { email: 'a@b@example.com' },
    { email: 'ada@example.com\r\nBcc: eve@example.com' },
  ]) {
    it(`is refused as ${JSON.stringify(said)}`, async () => {
      await assert.rejects(adoptedFor(said), { code: 'AUTH_UNAVAILABLE' })
    })
  }
})
