import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { operations } from '../../../lib/contract/operations.ts'
import { createRequestTimes } from '../../../lib/parts/metrics/request-times.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'
import { readPrometheusText, readValue } from './prometheus-text.ts'

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
      .map(({ labels, value }) => [...Object.values(labels), value])
    assert.deepEqual(counts, [
      ['GET', '/v1', '200', 1],
      ['HEAD', '/v1', '200', 1],
      ['_OTHER', '/v1', '200', 2],
      ['GET', '/v1', '404', 1],
      ['GET', '/docs', '200', 1],
      ['GET', '_OTHER', '404', 1],
    ])
  })

  it('are valid for Prometheus, whatever callers send', () => {
    const routes = [...operations.map(({ path }) => path), undefined]
    const requests = fc.array(
      fc.tuple(
        fc.constantFrom(...routes),
        fc.oneof(
          fc.string({ unit: anyCharacter }),
          fc.constantFrom('GET', '"', '\\', '\n', '__proto__'),
        ),
        fc.integer({ min: 100, max: 599 }),
        fc.double({ min: 0, max: 1e6, noNaN: true }),
      ),
    )
    fc.assert(
      fc.property(requests, (all) => {
        const times = createRequestTimes()
        for (const [route, method, status, ms] of all) times.observe(route, method, status, ms)
        const { samples = [] } = readPrometheusText(times.text()).get(NAME) ?? {}
        const total = samples.filter(({ name }) => name === `${NAME}_count`)
        assert.equal(
          total.reduce((sum, { value }) => sum + value, 0),
          all.length,
        )
      }),
    )
  })
})
