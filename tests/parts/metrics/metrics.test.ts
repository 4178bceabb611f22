import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { operations } from '../../../lib/contract/operations.ts'
import { createMetrics, type ScrapedMetric } from '../../../lib/parts/metrics/metrics.ts'
import { createRequestTimes } from '../../../lib/parts/metrics/request-times.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'
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
    const samples = bad.map(({ name }) => families.get(name)?.samples)
    assert.deepEqual(samples, [[], []])
    assert.deepEqual(failures, ['bad_bytes', 'bad_total'])
  })

  it('include the default metrics of the process', async () => {
    const families = readPrometheusText(await metricsOf().text())
    assert.ok(readValue(families, 'process_resident_memory_bytes') > 0)
    assert.ok(readValue(families, 'nodejs_eventloop_lag_p99_seconds') >= 0)
  })
})

const NAME = 'http_server_request_duration_seconds'

describe('the times of requests', () => {
  it('are counted in the bucket of their bound and in all above', () => {
    const times = createRequestTimes()
    for (const ms of [0.02, 0.1, 0.11, 40, 10_000, 60_000]) times.observe('/v1', 'GET', 200, ms)
    const read = readPrometheusText(times.text())
    const upTo = (le: string) => readValue(read, `${NAME}_bucket`, { http_route: '/v1', le })
    const bounds = ['0.000025', '0.0001', '0.00025', '0.025', '0.05', '10', '+Inf']
    assert.deepEqual(bounds.map(upTo), [1, 2, 3, 3, 4, 5, 6])
    assert.equal(readValue(read, `${NAME}_count`), 6)
    assert.ok(Math.abs(readValue(read, `${NAME}_sum`) - 70.04023) < 1e-9)
  })

  it('are counted by operation, method and status', () => {
    const times = createRequestTimes()
    for (const method of ['GET', 'HEAD', 'BREW', 'FROTH']) times.observe('/v1', method, 200, 1)
    times.observe('/v1', 'GET', 404, 1)
    times.observe('/docs', 'GET', 200, 1)
    times.observe(undefined, 'GET', 404, 1)
    const { samples = [] } = readPrometheusText(times.text()).get(NAME) ?? {}
    const counts = samples
      .filter(({ name }) => name === `${NAME}_count`)
      .map(({ labels, value }) => [...Object.values(labels), value].join(' '))
    assert.deepEqual(counts, [
      ...['GET /v1 200 1', 'HEAD /v1 200 1', '_OTHER /v1 200 2'],
      ...['GET /v1 404 1', 'GET /docs 200 1', 'GET _OTHER 404 1'],
    ])
  })

  it('are valid for Prometheus, whatever callers send', () => {
    const routes = [...operations.map(({ path }) => path), undefined]
    const odd = fc.constantFrom('GET', '"', '\\', '\n', '__proto__')
    const method = fc.oneof(fc.string({ unit: anyCharacter }), odd)
    const status = fc.integer({ min: 100, max: 599 })
    const ms = fc.double({ min: 0, max: 1e6, noNaN: true })
    const requests = fc.array(fc.tuple(fc.constantFrom(...routes), method, status, ms))
    fc.assert(
      fc.property(requests, (all) => {
        const times = createRequestTimes()
        for (const [route, method, status, ms] of all) times.observe(route, method, status, ms)
        const { samples = [] } = readPrometheusText(times.text()).get(NAME) ?? {}
        const counts = samples.filter(({ name }) => name === `${NAME}_count`)
        const total = counts.reduce((sum, { value }) => sum + value, 0)
        assert.equal(total, all.length)
      }),
    )
  })
})
