import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createContactSender } from '../../../lib/billing/subscription/contact-changes.ts'
import { readValue, write } from '../../support/database/sql.ts'
import { closedAfterTest } from '../../support/scene/freshly.ts'
import { makeBillingApp } from '../customers.ts'

const closed = closedAfterTest()

/** The app with a customer, and what its trigger has noted. */
async function openWithCustomer() {
  const at = closed(await makeBillingApp())
  const ada = await at.addCustomer()
  const { billing } = at.app.services
  const refused: string[] = []
  const send = createContactSender(billing, (userId) => refused.push(userId))
  const change = (set: string) =>
    write(at.app, `UPDATE users SET ${set} WHERE id = '${ada.userId}'`)
  const customer = async () => {
    const found = await at.stripe.customers.retrieve(ada.customer)
    assert.ok(!found.deleted)
    return [found.email, found.name ?? null]
  }
  const waiting = () => readValue(at.app, 'SELECT count(*) FROM contact_changes')
  const updates = () =>
    at.double.calls().filter(({ method, path }) => {
      return method === 'POST' && path === `/v1/customers/${ada.customer}`
    }).length
  return { at, ada, refused, send, change, customer, waiting, updates }
}

describe('the name and e-mail address of a customer at Stripe', () => {
  it('follow the account, with one call for each change', async () => {
    const { send, change, customer, waiting, updates } = await openWithCustomer()
    const before = updates()
    await send()
    assert.equal(updates(), before)
    await change("email = 'ada@new.example', name = 'Ada'")
    await send()
    assert.deepEqual(await customer(), ['ada@new.example', 'Ada'])
    await send()
    assert.equal(updates(), before + 1)
    assert.equal(await waiting(), 0)
    await change("name = NULL, email = 'ada@new.example'")
    await send()
    assert.deepEqual(await customer(), ['ada@new.example', null])
  })

  it('are left alone where only the other one changes', async () => {
    const { at, ada, send, change, customer } = await openWithCustomer()
    await at.stripe.customers.update(ada.customer, { name: 'Example Ltd' })
    await change("email = 'ada@new.example'")
    await send()
    assert.deepEqual(await customer(), ['ada@new.example', 'Example Ltd'])
  })

  it('are sent again after a failure', async () => {
    const { at, send, change, customer, waiting } = await openWithCustomer()
    await change("email = 'ada@new.example'")
    at.double.failCalls({ kind: '500' })
    await assert.rejects(send(), { code: 'BILLING_UNAVAILABLE' })
    assert.equal(await waiting(), 1)
    await send()
    assert.deepEqual(await customer(), ['ada@new.example', null])
    assert.equal(await waiting(), 0)
  })

  it('are sent as they are when they change while a change is being sent', async () => {
    const { at, send, change, customer, waiting } = await openWithCustomer()
    await change("email = 'ada@one.example'")
    at.double.failCalls({ kind: 'late', delayMs: 20 })
    const sending = send()
    await change("email = 'ada@two.example'")
    await sending
    await send()
    assert.deepEqual(await customer(), ['ada@two.example', null])
    assert.equal(await waiting(), 0)
  })

  it('are not tried again and again if Stripe refuses them', async () => {
    const { at, ada, refused, send, change, waiting, updates } = await openWithCustomer()
    at.double.world.state.tables.customers.delete(ada.customer)
    const before = updates()
    await change("email = 'ada@new.example'")
    await send()
    await send()
    assert.equal(updates(), before + 1)
    assert.deepEqual(refused, [ada.userId])
    assert.equal(await waiting(), 1)
  })

  it('are not recorded for a user without a customer at Stripe', async () => {
    await using at = await makeBillingApp()
    const { userId } = await at.addUser('bob@example.com')
    await write(at.app, `UPDATE users SET email = 'bob@new.example' WHERE id = '${userId}'`)
    assert.equal(await readValue(at.app, 'SELECT count(*) FROM contact_changes'), 0)
  })
})
