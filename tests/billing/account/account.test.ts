import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BillingDetails, Invoice } from '../../../lib/contract/billing/billing-schemas.ts'
import { DAY } from '../../stripe-double/start.ts'
import { codeOf, NOON } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { makeBillingApp } from '../customers.ts'

const ADDRESS = { line1: '1 Example Street', city: 'London', postal_code: 'N1 1AA', country: 'GB' }

describe('GET /v1/billing/invoices', () => {
  const at = freshly(makeBillingApp)

  it('lists the invoices of the caller, newest first, drafts included', async () => {
    const ada = await at.addSubscriber()
    await at.addSubscriber('eve@example.com', 'starter')
    at.double.advance(31 * DAY + 60)
    const { body } = await ada.send('GET', '/v1/billing/invoices')
    // safe: `send` has checked it against the contract
    const [draft, first, ...none] = body as Invoice[]
    assert.deepEqual(none, [])
    assert.equal(draft?.status, 'draft')
    assert.equal(draft?.number, null)
    assert.equal(draft?.hostedInvoiceUrl, null)
    const [, expected] = (await at.stripe.invoices.list({ customer: ada.customer })).data
    assert.deepEqual(first, {
      id: expected?.id,
      number: expected?.number,
      status: 'paid',
      currency: 'usd',
      amountDue: 2900,
      amountPaid: 2900,
      createdAt: new Date(NOON).toISOString(),
      hostedInvoiceUrl: expected?.hosted_invoice_url,
      pdfUrl: expected?.invoice_pdf,
    })
  })

  it('lists a hundred of them', async () => {
    const ada = await at.addSubscriber()
    const { invoices } = at.double.world.state.tables
    const [made] = invoices.values()
    assert.ok(made)
    for (let index = 0; index < 120; index += 1) {
      invoices.set(`in_${index}`, { ...made, id: `in_${index}`, created: made.created + index })
    }
    const { body } = await ada.send('GET', '/v1/billing/invoices')
    // safe: `send` has checked it against the contract
    const ids = (body as Invoice[]).map(({ id }) => id)
    assert.equal(ids.length, 100)
    assert.equal(ids[0], 'in_119')
  })
})

describe('GET /v1/billing/details', () => {
  const at = freshly(makeBillingApp)

  it('answers name, email and address as invoices show them', async () => {
    const ada = await at.addCustomer()
    const before = await ada.send('GET', '/v1/billing/details')
    assert.deepEqual(before.body, { name: null, email: 'ada@example.com', address: null })
    await at.stripe.customers.update(ada.customer, { name: 'Ada', address: ADDRESS })
    const { body } = await ada.send('GET', '/v1/billing/details')
    assert.deepEqual(body, {
      name: 'Ada',
      email: 'ada@example.com',
      address: {
        line1: '1 Example Street',
        line2: null,
        city: 'London',
        state: null,
        postalCode: 'N1 1AA',
        country: 'GB',
      },
    })
  })

  it('answers 404 if the customer was deleted at Stripe', async () => {
    const ada = await at.addCustomer()
    await at.stripe.customers.del(ada.customer)
    const answer = await ada.send('GET', '/v1/billing/details')
    assert.equal(codeOf(answer), 'NO_BILLING_ACCOUNT')
  })
})

describe('PUT /v1/billing/address', () => {
  const at = freshly(makeBillingApp)

  it('replaces the whole address', async () => {
    const ada = await at.addCustomer()
    const body = { line1: 'Teststraße 2', line2: 'c/o 𠮷田', state: 'BE', country: 'DE' }
    await ada.send('PUT', '/v1/billing/address', { body: ADDRESS })
    const answer = await ada.send('PUT', '/v1/billing/address', { body })
    assert.deepEqual(answer.body, { success: true })
    const details = await ada.send('GET', '/v1/billing/details')
    assert.partialDeepStrictEqual(details.body, {
      address: { ...body, city: null, postalCode: null },
    })
    assert.deepEqual(
      await ada.audit(),
      [1, 2].map(() => ({ action: 'update_address', detail: null })),
    )
  })

  it('accepts the address in the form that the billing details return', async () => {
    const ada = await at.addCustomer()
    await ada.send('PUT', '/v1/billing/address', { body: ADDRESS })
    const { body: details } = await ada.send('GET', '/v1/billing/details')
    // safe: `send` has checked it against the contract
    const { address } = details as BillingDetails
    const body = { ...address, city: 'Leeds' }
    assert.equal((await ada.send('PUT', '/v1/billing/address', { body })).status, 200)
    const after = await ada.send('GET', '/v1/billing/details')
    assert.partialDeepStrictEqual(after.body, { address: body })
  })

  it('refuses an invalid address', async () => {
    const ada = await at.addCustomer()
    const wrong = [
      {},
      { ...ADDRESS, line1: '  ' },
      { ...ADDRESS, line1: 'a'.repeat(201) },
      { ...ADDRESS, line2: 'a\nb' },
      { ...ADDRESS, city: '\ud800' },
      { ...ADDRESS, postal_code: 'a'.repeat(21) },
      { ...ADDRESS, country: 'gb' },
      { ...ADDRESS, country: 'Germany' },
      { ...ADDRESS, country: 'QQ' },
      { ...ADDRESS, postCode: 'N1 1AA' },
      { ...ADDRESS, postalCode: 'N1 1AA' },
      { ...ADDRESS, line1: null },
    ]
    for (const body of wrong) {
      const answer = await ada.send('PUT', '/v1/billing/address', { body })
      assert.equal(codeOf(answer), 'BAD_REQUEST', JSON.stringify(body))
    }
    const { body } = await ada.send('GET', '/v1/billing/details')
    assert.partialDeepStrictEqual(body, { address: null })
    assert.deepEqual(await ada.audit(), [])
  })

  it('answers 404 if the customer was deleted at Stripe', async () => {
    const ada = await at.addCustomer()
    await at.stripe.customers.del(ada.customer)
    const answer = await ada.send('PUT', '/v1/billing/address', { body: ADDRESS })
    assert.equal(codeOf(answer), 'NO_BILLING_ACCOUNT')
  })
})

describe('POST /v1/billing/portal', () => {
  it('opens the portal for the caller, with a link back to this instance', async () => {
    await using at = await makeBillingApp({ env: { MERIDIAN_BASE_URL: 'https://geo.example' } })
    const ada = await at.addSubscriber()
    const { body } = await ada.send('POST', '/v1/billing/portal')
    const sessions = [...at.double.world.state.tables.portalSessions.values()]
    assert.deepEqual(
      sessions.map(({ customer, url }) => ({ customer, url })),
      [{ customer: ada.customer, ...(body as object) }], // safe: it is a JSON object
    )
    assert.match(sessions[0]?.return_url ?? '', /^https:\/\/geo\.example\//)
    assert.deepEqual(await ada.audit(), [{ action: 'open_portal', detail: null }])
  })
})

describe('The changes of a user in billing', () => {
  it('are limited by the hour, whichever operations they are; failures do not count, except wrong promotion codes', async () => {
    await using at = await makeBillingApp()
    const ada = await at.addSubscriber()
    for (let n = 0; n < 58; n++) at.app.services.limits.billing.take(ada.userId, NOON)
    const move = () => ada.send('PUT', '/v1/billing/address', { body: ADDRESS })
    const open = () => ada.send('POST', '/v1/billing/portal')
    const buy = () => ada.send('POST', '/v1/billing/subscription', { body: { planId: 'pro' } })
    assert.equal(codeOf(await buy()), 'ALREADY_SUBSCRIBED')
    assert.deepEqual([(await move()).status, (await open()).status], [200, 200])
    const written = (await ada.audit()).length
    for (const act of [move, open, buy]) {
      const refused = await act()
      assert.equal(codeOf(refused), 'RATE_LIMITED')
      assert.equal(refused.headers.get('ratelimit-policy'), '"billing-changes";q=60;w=3600')
    }
    assert.equal((await ada.audit()).length, written)
    assert.equal((await ada.send('GET', '/v1/billing/details')).status, 200)
  })
})
