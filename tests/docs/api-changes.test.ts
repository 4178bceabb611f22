import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { INTERFACE_VERSION, VERSION } from '../../lib/config/version.ts'
import { operations } from '../../lib/contract/operations.ts'

const TEXT = readFileSync(new URL('../../docs/api-changes.md', import.meta.url), 'utf8')

/** The operations of the specification, which does not grow. All others are additions. */
const SPECIFIED = new Set([
  ...['getHealth', 'getOpenApi', 'getServiceInfo', 'listPlans', 'receiveStripeEvent'],
  ...['sendInquiry', 'sendBeacon', 'getRumSummary', 'locateCaller', 'locateAddress'],
  ...['getCallerTimezone', 'getTimezone', 'validateAddress', 'getProfile', 'listKeys', 'createKey'],
  ...['revokeKey', 'renewKey', 'getUsage', 'listSites', 'createSite', 'deleteSite', 'listAuditLog'],
  ...['getSubscription', 'createCheckout', 'changePlan', 'setOverages', 'cancelSubscription'],
  ...['previewPlanChange', 'reactivateSubscription', 'sendBillingInquiry', 'openPortal'],
  ...['listInvoices', 'getBillingDetails', 'updateAddress', 'applyPromo', 'getDiscount'],
  ...['listTaxIds', 'addTaxId', 'deleteTaxId', 'getPaymentMethod', 'createSetupIntent'],
  ...['setPaymentMethod'],
])

/** Such as `GET /v1/plans`; `GET` and `PUT /v1/plans` are two. */
const NAMED = [...TEXT.matchAll(/(?:`([A-Z]+)` and )?`([A-Z]+) (\/[^`]*)`/g)].flatMap(
  ([, first, second, path]) => [first, second].flatMap((one) => (one ? [`${one} ${path}`] : [])),
)

describe('docs/api-changes.md', () => {
  it('names every operation that is in addition to the specification, and no other', () => {
    const added = operations
      .filter(({ id }) => !SPECIFIED.has(id))
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    const inText = NAMED.filter((name) => name !== 'GET /v1')
    assert.deepEqual(inText.toSorted(), added.toSorted())
  })

  it('has a section for the version of this release, and the version of the specification', () => {
    assert.match(TEXT, new RegExp(`^## ${VERSION.replaceAll('.', '\\.')}$`, 'm'))
    assert.ok(TEXT.includes(INTERFACE_VERSION))
  })
})
