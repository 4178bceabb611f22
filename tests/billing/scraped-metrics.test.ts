import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetrics } from '../../lib/parts/metrics/metrics.ts'
import { listScrapedMetrics } from '../../lib/services/scraped-metrics.ts'
import { readPrometheusText, readValue } from '../parts/metrics/prometheus-text.ts'
import { openShop, type Shop } from './shop.ts'

async function measure({ app: { services } }: Shop) {
  const metrics = createMetrics({
    scraped: listScrapedMetrics(services),
    requestTimes: services.requestTimes,
    onError: assert.ifError,
  })
  const families = readPrometheusText(await metrics.text())
  const reconciled = (outcome: string) =>
    readValue(families, 'meridian_reconciliation_timestamp_seconds', { outcome })
  return {
    event: readValue(families, 'meridian_webhook_last_event_timestamp_seconds'),
    any: reconciled('any'),
    success: reconciled('success'),
    unsent: readValue(families, 'meridian_overage_reports_unsent', { state: 'waiting' }),
  }
}

describe('the metrics of billing', () => {
  it('show when the last event came and when the last reconciliation ended', async () => {
    await using shop = await openShop()
    assert.deepEqual(await measure(shop), { event: 0, any: 0, success: 0, unsent: 0 })
    await shop.buy('starter')
    const bought = shop.now() / 1000
    shop.pass(60)
    await shop.app.services.reconciliation.run()
    const compared = bought + 60
    assert.deepEqual(await measure(shop), {
      event: bought,
      any: compared,
      success: compared,
      unsent: 0,
    })
  })

  it('distinguish a failed reconciliation from a successful one', async () => {
    await using shop = await openShop({ env: { STRIPE_API_BASE: 'http://127.0.0.1:1' } })
    await assert.rejects(shop.app.services.reconciliation.run())
    const { any, success } = await measure(shop)
    assert.deepEqual([any, success], [shop.now() / 1000, 0])
  })
})
