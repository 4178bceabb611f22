import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetrics, type ScrapedMetric } from '../../../lib/parts/metrics/metrics.ts'
import { createRequestTimes } from '../../../lib/parts/metrics/request-times.ts'
import { readPrometheusText, readValue } from './prometheus-text.ts'

const failures: string[] = []

function metricsOf(...scraped: ScrapedMetric[]) {
  const onError = (_: unknown, name: string) => void failures.push(name)
  return createMetrics({ scraped, requestTimes: createRequestTimes(), onError })
}

const gauge: ScrapedMetric = { name: 'some_bytes', help: 'Some.', read: () => 7 }

describe('metrics', () => {
  it('are measured at each scrape, and drop labels that vanished', async () => {
    let values: readonly (readonly [string, number])[] = [
      ['a', 1],
      ['b', 2],
    ]
    const read = () => values.map(([file, value]) => ({ labels: { file }, value }))
    const metrics = metricsOf({ name: 'files_total', help: 'All.', labels: ['file'], read })
    const samples = async () =>
      readPrometheusText(await metrics.text())
        .get('files_total')
        ?.samples.map(({ labels, value }) => [labels['file'], value])
    assert.deepEqual(await samples(), values)
    values = [['b', 3]]
    assert.deepEqual(await samples(), values)
  })

  it('are the same for two scrapes at once', async () => {
    const metrics = metricsOf({ ...gauge, read: async () => 7 })
    for (const text of await Promise.all([metrics.text(), metrics.text()])) {
      assert.equal(readValue(readPrometheusText(text), 'some_bytes'), 7)
    }
  })

  it('leave out a metric that fails, and report it', async () => {
    const read = () => {
      throw new Error('no')
    }
    const bad = ['bad_bytes', 'bad_total'].map((name) => ({ ...gauge, name, read }))
    const families = readPrometheusText(await metricsOf(...bad, gauge).text())
    assert.equal(readValue(families, 'some_bytes'), 7)
    assert.deepEqual(
      bad.map(({ name }) => families.get(name)?.samples),
      [[], []],
    )
    assert.deepEqual(failures, ['bad_bytes', 'bad_total'])
  })

  it('include the default metrics of the process', async () => {
    const families = readPrometheusText(await metricsOf().text())
    assert.ok(readValue(families, 'process_resident_memory_bytes') > 0)
    assert.ok(readValue(families, 'nodejs_eventloop_lag_p99_seconds') >= 0)
  })
})
