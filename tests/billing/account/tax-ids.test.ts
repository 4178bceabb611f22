import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaxId } from '../../../lib/contract/billing/billing-schemas.ts'
import type { Answer } from '../../support/contract-check.ts'
import { codeOf, recordingLog } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { makeBillingApp } from '../customers.ts'

const PATH = '/v1/billing/tax-ids'
const BODY = { type: 'eu_vat', value: 'DE123456789' }

function taxId({ body }: Answer): TaxId {
  return body as TaxId // safe: `send` has checked it against the contract
}

describe('tax ids', () => {
  const at = freshly(makeBillingApp)

  it('are added, listed and removed', async () => {
    const ada = await at.addCustomer()
    assert.deepEqual((await ada.send('GET', PATH)).body, [])
    const added = await ada.send('POST', PATH, { body: BODY })
    assert.equal(added.status, 201)
    assert.partialDeepStrictEqual(added.body, { ...BODY, status: 'verified' })
    assert.deepEqual((await ada.send('GET', PATH)).body, [added.body])
    const { id } = taxId(added)
    const removed = await ada.send('DELETE', `${PATH}/${id}`)
    assert.deepEqual(removed.body, { success: true })
    assert.deepEqual((await ada.send('GET', PATH)).body, [])
    assert.deepEqual(await ada.audit(), [
      { action: 'add_tax_id', detail: 'eu_vat' },
      { action: 'delete_tax_id', detail: null },
    ])
  })

  it('that are wrong are logged as a warning, not as an error', async () => {
    const log = recordingLog()
    await using at = await makeBillingApp({ log })
    const ada = await at.addCustomer()
    const wrong = await ada.send('POST', PATH, { body: { ...BODY, value: 'DE1' } })
    assert.equal(codeOf(wrong), 'BAD_REQUEST')
    const failures = log.events.filter(({ message }) => message === 'a call to Stripe failed')
    assert.deepEqual(
      failures.map(({ level }) => level),
      ['warn'],
    )
  })

  it('are added once, however often they are sent and however they are written', async () => {
    const ada = await at.addCustomer()
    const send = (value: string) => ada.send('POST', PATH, { body: { ...BODY, value } })
    const answers = await Promise.all(['DE123456789', ' DE123456789', 'DE123456789'].map(send))
    // Stripe would refuse the first one in this form.
    answers.push(await send('de 123 456 789'))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201, 201],
    )
    assert.equal(new Set(answers.map((answer) => taxId(answer).id)).size, 1)
    assert.equal((await at.stripe.customers.listTaxIds(ada.customer)).data.length, 1)
    assert.equal((await ada.audit()).length, 1)
  })

  it('may be of any type that Stripe knows', async () => {
    const ada = await at.addCustomer()
    for (const type of ['ca_gst_hst', 'eu_oss_vat', 'zw_tin']) {
      const { status } = await ada.send('POST', PATH, { body: { type, value: '123' } })
      assert.equal(status, 201, type)
    }
  })

  it('can be added again after they were removed', async () => {
    const ada = await at.addCustomer()
    const first = taxId(await ada.send('POST', PATH, { body: BODY }))
    await ada.send('DELETE', `${PATH}/${first.id}`)
    const second = taxId(await ada.send('POST', PATH, { body: BODY }))
    assert.notEqual(second.id, first.id)
    assert.deepEqual((await ada.send('GET', PATH)).body, [second])
  })

  it('are refused if the type or the value is wrong', async () => {
    const ada = await at.addCustomer()
    const wrong = [
      {},
      { type: 'eu_vat' },
      { type: 'eu_vat', value: '' },
      { type: 'eu_vat', value: '12' },
      { type: 'us_ein', value: 'DE123456789' },
      { type: 'EU_VAT', value: 'DE123456789' },
      { type: 'nonsense', value: 'DE123456789' },
      { type: 'eu_nonsense', value: 'DE123456789' },
      { type: 'eu_vat', value: 'DE123456789\n' },
      { type: 'eu_vat', value: '1'.repeat(65) },
    ]
    for (const body of wrong) {
      const answer = await ada.send('POST', PATH, { body })
      assert.equal(codeOf(answer), 'BAD_REQUEST', JSON.stringify(body))
    }
    assert.deepEqual(await ada.audit(), [])
  })

  it('are deleted if Stripe answers only the second call', async () => {
    await using at = await makeBillingApp({ retryPolicy: { tries: 2 } })
    const ada = await at.addCustomer()
    const { id } = taxId(await ada.send('POST', PATH, { body: BODY }))
    at.double.failCalls({ kind: 'lost', method: 'DELETE' })
    assert.equal((await ada.send('DELETE', `${PATH}/${id}`)).status, 200)
    assert.deepEqual((await ada.send('GET', PATH)).body, [])
    assert.equal((await ada.send('DELETE', `${PATH}/${id}`)).status, 404)
  })

  it('of other users are answered 404', async () => {
    const ada = await at.addCustomer()
    const eve = await at.addCustomer('eve@example.com')
    const { id } = taxId(await ada.send('POST', PATH, { body: BODY }))
    const forms = ['none', '..', '%2e%2e', 'txi_', 'txi_%2F..', `txi_${'a'.repeat(300)}`, 'txi_%00']
    for (const form of forms) {
      const answer = await eve.send('DELETE', `${PATH}/${form}`)
      assert.equal(answer.status >= 400 && answer.status < 500, true, form)
      if (form !== '..' && form !== '%2e%2e') assert.equal(codeOf(answer), 'NOT_FOUND', form)
    }
    for (const foreign of [id, 'txi_none']) {
      assert.equal(codeOf(await eve.send('DELETE', `${PATH}/${foreign}`)), 'NOT_FOUND')
    }
    assert.equal(
      at.double.calls().some(({ method }) => method === 'DELETE'),
      false,
    )
    assert.deepEqual((await eve.send('GET', PATH)).body, [])
    assert.equal((await at.stripe.customers.listTaxIds(ada.customer)).data.length, 1)
    assert.deepEqual(await eve.audit(), [])
  })
})
