import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { offerReceiver } from '../../lib/contact/usage-receivers.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { type BillingApp, makeBillingApp } from '../billing/customers.ts'
import type { Answer } from '../support/contract-check.ts'
import { write } from '../support/database/sql.ts'
import type { TestApp } from '../support/helpers.ts'
import { signIn, signUp } from '../support/sign-in.ts'

/*
 * Two users call every operation with an id in its path: an object of one user does not exist for the
 * other, whichever credential they send.
 */

const rows: readonly Operation[] = operations
const withId = rows.filter(({ path }) => /\{(?!ipAddress|asn)\w+\}/.test(path))

const Id = v.object({ id: v.string() })
const Sessions = v.array(v.object({ id: v.string(), isCurrent: v.boolean() }))

/** Creates the object that the parameter identifies, as the user of the headers. Returns its id. */
const MAKE: Readonly<Record<string, (headers: Record<string, string>) => Promise<string>>> = {
  keyId: async (headers) => {
    const body = { name: 'mine' }
    return v.parse(Id, (await app.send('POST', '/v1/account/me/keys', { headers, body })).body).id
  },
  siteId: async (headers) => {
    const body = { name: `https://${crypto.randomUUID()}.example` }
    return v.parse(Id, (await app.send('POST', '/v1/account/me/sites', { headers, body })).body).id
  },
  id: async (headers) => {
    const body = { type: 'zw_tin', value: crypto.randomUUID() }
    return v.parse(Id, (await app.send('POST', '/v1/billing/tax-ids', { headers, body })).body).id
  },
  receiverId: async () => {
    const { db, now } = app.services
    const user = await findUserByEmail(db, 'ada@example.com')
    const id = crypto.randomUUID()
    const email = `${id}@example.com`
    await offerReceiver(db, { id, userId: user?.id ?? '', email, now: now() }).statement.run()
    return id
  },
  sessionId: async (headers) => {
    await signIn(app)
    const { body } = await app.send('GET', '/v1/account/me/sessions', { headers })
    const other = v.parse(Sessions, body).find(({ isCurrent }) => !isCurrent)
    assert.ok(other)
    return other.id
  },
}

let billing: BillingApp
let app: TestApp
let ada: Record<string, string>
let eve: Record<string, Record<string, string>>
before(async () => {
  billing = await makeBillingApp()
  app = billing.app
  ada = { authorization: `Bearer ${await signUp(app, 'ada@example.com')}` }
  eve = {
    session: { authorization: `Bearer ${await signUp(app, 'eve@example.com')}` },
    key: { 'x-api-key': await app.makeKey({ email: 'eve@example.com' }) },
  }
  for (const email of ['ada@example.com', 'eve@example.com']) await billing.addCustomer(email)
  await write(app, "UPDATE users SET plan = 'pro'")
})
after(() => billing[Symbol.asyncDispose]())

function ask(row: Operation, id: string, headers: Record<string, string>): Promise<Answer> {
  const path = row.path.replace(/\{\w+\}/, id)
  return app.send(row.method.toUpperCase(), path, { headers, body: row.body?.example })
}

/** The body without the fields that differ from request to request. */
function bodyOf({ text, headers }: Answer): string {
  return text.replaceAll(headers.get('x-request-id') ?? '', 'id')
}

describe('an object of one user', () => {
  for (const row of withId) {
    it(`does not exist for another user: ${row.id}`, async () => {
      const name = /\{(\w+)\}/.exec(row.path)?.[1] ?? ''
      const make = MAKE[name]
      assert.ok(make, `no function creates a ${name}`)
      const id = await make(ada)
      for (const [kind, headers] of Object.entries(eve)) {
        const foreign = await ask(row, id, headers)
        const unknown = await ask(row, id.replaceAll(/[0-9a-f]/g, '0'), headers)
        assert.equal(foreign.status, 404, kind)
        assert.equal(bodyOf(foreign), bodyOf(unknown), kind)
      }
      assert.ok((await ask(row, id, ada)).status < 300)
    })
  }

  it('is tested for every id in the contract', () => {
    const names = withId.map(({ path }) => /\{(\w+)\}/.exec(path)?.[1] ?? '')
    for (const name of names) assert.ok(MAKE[name], name)
  })
})
