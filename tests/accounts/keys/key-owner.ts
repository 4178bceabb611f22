import assert from 'node:assert/strict'
import * as v from 'valibot'
import { hashToken } from '../../../lib/access/session-token.ts'
import { findUserByEmail } from '../../../lib/accounts/users.ts'
import { ApiKeyCreated, ApiKeyInfo } from '../../../lib/contract/account/account-schemas.ts'
import { auditLog, sessions } from '../../../lib/db/tables.ts'
import { NOON, type TestApp } from '../../support/helpers.ts'
import type { KeyOptions } from '../../support/scene/make-key.ts'
import type { SendOptions } from '../../support/scene/send.ts'

export const KEYS = '/v1/account/me/keys'
export const ORIGIN = 'https://app.example'
const LOCATE = '/v1/ip/81.2.69.160'

/** A new user with a first key, which requests use by default. */
export async function newOwner(app: TestApp, options: KeyOptions = {}) {
  const email = `${crypto.randomUUID()}@example.com`
  const key = await app.makeKey({ email, ...options })
  const user = await findUserByEmail(app.services.db, email)
  assert.ok(user)

  const create = (body: object, by: SendOptions = { key }) =>
    app.send('POST', KEYS, { ...by, body: { name: 'made', ...body } })
  return {
    email,
    key,
    create,
    /** Creates a key. Fails the test if the server refuses. */
    created: async (body: object, by?: SendOptions) => {
      const answer = await create(body, by)
      assert.equal(answer.status, 201, answer.text)
      return v.parse(ApiKeyCreated, answer.body)
    },
    list: async (by: SendOptions = { key }) =>
      v.parse(v.array(ApiKeyInfo), (await app.send('GET', KEYS, by)).body),
    revoke: (id: string) => app.send('DELETE', `${KEYS}/${id}`, { key }),
    renew: (id: string) => app.send('POST', `${KEYS}/${id}/renew`, { key }),
    rotate: (id: string, body?: object, by: SendOptions = { key }) =>
      app.send('POST', `${KEYS}/${id}/rotate`, { ...by, ...(body !== undefined && { body }) }),
    /** The audit rows of the action, oldest first. */
    audited: async (action: string) => {
      const rows = await app.services.db.select().from(auditLog).orderBy(auditLog.id).all()
      return rows.filter((row) => row.actorId === user.id && row.action === action)
    },
    /** Signs in as the embedded sign-in does. */
    signIn: async (): Promise<SendOptions> => {
      const token = crypto.randomUUID()
      const times = { createdAt: NOON, updatedAt: NOON, expiresAt: NOON + 60_000 }
      const session = { id: token, userId: user.id, tokenHash: hashToken(token), ...times }
      await app.services.db.insert(sessions).values(session).run()
      return { headers: { authorization: `Bearer ${token}` } }
    },
  }
}

/** The status of a look-up with the key. */
export async function lookUp(app: TestApp, key: string, origin?: string): Promise<number> {
  const headers = origin === undefined ? {} : { origin }
  return (await app.send('GET', LOCATE, { key, headers })).status
}
