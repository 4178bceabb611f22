import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { HealthStatus, ServiceInfo } from '../../lib/contract/system.ts'
import { timezoneData } from '../../lib/geo/answer/timezones.ts'
import { createHealth } from '../../lib/services/health.ts'
import { readValue } from '../support/database/sql.ts'
import { makeApp, NOON } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'

const app = sharedScene({ env: { STRIPE_PRICE_PRO: 'price_pro' } })

/** A service whose checks are these; by default they succeed. */
function checkedBy(checks: { geolocation?: () => void; database?: () => Promise<void> }) {
  const working = { geolocation: () => {}, database: async () => {} }
  return makeApp({
    replace: () => ({ health: createHealth({ ...working, ...checks }, () => NOON) }),
  })
}

describe('GET /health', () => {
  it('answers ok after a real look-up and a real write', async () => {
    const { status, body } = await app.send('GET', '/health')
    assert.equal(status, 200)
    const { uptime, ...health } = v.parse(HealthStatus, body)
    assert.match(uptime, /^\d+ (second|minute)s?$/)
    const checks = { geolocation: true, database: true }
    assert.deepEqual(health, { status: 'ok', timestamp: new Date(NOON).toISOString(), checks })
    assert.equal(await readValue(app, 'SELECT checked_at FROM health'), NOON)
  })

  it('answers 503 and names the failed check', async () => {
    const database = () => {
      throw new Error('disk full')
    }
    await using broken = await checkedBy({ database })
    const { status, body } = await broken.send('GET', '/health')
    assert.equal(status, 503)
    assert.deepEqual(v.parse(HealthStatus, body).checks, { geolocation: true, database: false })
  })

  it('answers 503 while the service shuts down', async () => {
    await using stopping = await makeApp()
    stopping.services.health.drain()
    const { status, body } = await stopping.send('GET', '/health')
    assert.equal(status, 503)
    assert.equal(v.parse(HealthStatus, body).status, 'degraded')
  })
})

describe('GET /health/ready', () => {
  it('answers 200 without the database, since look-ups go on', async () => {
    const database = () => Promise.reject(new Error('disk full'))
    await using broken = await checkedBy({ database })
    const { status, body } = await broken.send('GET', '/health/ready')
    assert.equal(status, 200)
    assert.deepEqual(v.parse(HealthStatus, body).checks, { geolocation: true, database: false })
  })

  it('answers 503 without look-ups, and while the service shuts down', async () => {
    const geolocation = () => {
      throw new Error('no databases')
    }
    await using broken = await checkedBy({ geolocation })
    assert.equal((await broken.send('GET', '/health/ready')).status, 503)
    await using stopping = await makeApp()
    stopping.services.health.drain()
    assert.equal((await stopping.send('GET', '/health/ready')).status, 503)
  })
})

describe('GET /v1', () => {
  it('describes the service and its databases', async () => {
    const { databases, ...info } = v.parse(ServiceInfo, (await app.send('GET', '/v1')).body)
    assert.equal(info.name, 'Meridian')
    assert.equal(info.openapi, 'http://127.0.0.1:8787/.well-known/openapi.json')
    const listed = databases.map(({ name, provider, builtAt }) => `${name} ${provider} ${builtAt}`)
    assert.deepEqual(listed, [
      ...['City maxmind', 'dbip-city dbip', 'ASN maxmind', 'lite ipinfo'].map(
        (database) => `${database} 2026-01-13T00:00:00.000Z`,
      ),
      `tzdata-${timezoneData().release} iana undefined`,
    ])
    for (const { attribution } of databases) assert.match(attribution, /https:\/\//)
  })

  it('uses MERIDIAN_BASE_URL in its links', async () => {
    await using named = await makeApp({ env: { MERIDIAN_BASE_URL: 'https://geo.example/' } })
    const { plans } = v.parse(ServiceInfo, (await named.send('GET', '/v1')).body)
    assert.equal(plans, 'https://geo.example/v1/billing/plans')
  })
})

describe('GET /.well-known/openapi.json', () => {
  it('returns the OpenAPI document', async () => {
    const { body } = await app.send('GET', '/.well-known/openapi.json')
    const Document = v.object({ openapi: v.string(), info: v.object({ version: v.string() }) })
    const document = v.parse(Document, body)
    assert.deepEqual(document, { openapi: '3.1.0', info: { version: '1.27.1' } })
  })
})

describe('GET /v1/billing/plans', () => {
  it('lists the plans with exactly the fields of the contract, cheapest first', async () => {
    const { body } = await app.send('GET', '/v1/billing/plans')
    assert.deepEqual(body, [
      plan('free', 'Free', { monthlyCap: 5_000, maxKeys: 2, maxSites: 1, price: 0 }),
      plan('starter', 'Starter', { monthlyCap: 25_000, maxKeys: 5, maxSites: 1, price: 9 }),
      {
        ...plan('pro', 'Pro', { monthlyCap: 100_000, maxKeys: 10, maxSites: 2, price: 29 }),
        stripePriceId: 'price_pro',
      },
    ])
  })
})

function plan(id: string, name: string, limits: object) {
  return { id, name, ...limits, stripePriceId: null }
}
