import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import * as v from 'valibot'
import { readPlans } from '../../lib/config/plans.ts'
import { BEACON_MAX_BYTES, Beacon } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { openDb } from '../../lib/db/open.ts'
import { auditLog } from '../../lib/db/tables.ts'
import { HOUR_MS } from '../../lib/parts/durations.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import { readDemoOptions } from '../../scripts/demo-rum/options.ts'
import { demoSite } from '../../scripts/demo-rum/send-demo.ts'
import { createTraffic, startOf } from '../../scripts/demo-rum/traffic.ts'
import type { Accounts } from '../../scripts/parts/accounts.ts'
import { userWithPlan } from '../../scripts/parts/user-with-plan.ts'
import { NOON } from '../support/helpers.ts'

const WEEK = {
  origin: 'https://shop.example',
  from: startOf(7, NOON),
  until: NOON + 20 * 60_000,
  viewsPerDay: 2_000,
  seed: 1,
} as const

const traffic = [...createTraffic(WEEK)]
const beacons = traffic.map(({ body }) => v.parse(Beacon, JSON.parse(body)))

function shareOf(matches: (beacon: Beacon) => boolean): number {
  return beacons.filter(matches).length / beacons.length
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

describe('createTraffic', () => {
  it('gives the same traffic for the same seed only', () => {
    assert.deepEqual([...createTraffic(WEEK)], traffic)
    assert.notDeepEqual([...createTraffic({ ...WEEK, seed: 2 })], traffic)
  })

  it('gives only beacons that the endpoint accepts', () => {
    for (const { origin, address, body } of traffic) {
      assert.equal(origin, WEEK.origin)
      assert.ok(parseAddress(address), address)
      assert.ok(Buffer.byteLength(body) <= BEACON_MAX_BYTES)
    }
  })

  it('gives beacons ordered by time, within the period', () => {
    const times = traffic.map(({ at }) => at)
    const ordered = times.toSorted((a, b) => a - b)
    assert.deepEqual(times, ordered)
    assert.ok((times[0] ?? 0) >= WEEK.from && (times.at(-1) ?? WEEK.until) < WEEK.until)
  })

  it('gives about the requested number of views', () => {
    const perDay = traffic.length / 7
    assert.ok(perDay > 1_800 && perDay < 2_500, `${perDay} a day`)
  })

  it('gives few views at night', () => {
    const atHour = (hour: number) =>
      traffic.filter(({ at }) => Math.floor(at / HOUR_MS) % 24 === hour).length
    assert.ok(atHour(19) > 4 * atHour(3))
  })

  it('gives slow and fast devices', () => {
    const lcpOf = (type: string) => {
      const own = beacons.filter(({ deviceType }) => deviceType === type)
      return median(own.flatMap(({ metrics }) => metrics?.lcp ?? []))
    }
    assert.ok(lcpOf('mobile') > 1.3 * lcpOf('desktop'))
    for (const type of ['desktop', 'mobile', 'tablet']) {
      assert.ok(shareOf(({ deviceType }) => deviceType === type) > 0.02, type)
    }
  })

  it('gives good and poor pages, and few errors', () => {
    const poor = shareOf(({ metrics }) => (metrics?.lcp ?? 0) > 4_000)
    const good = shareOf(({ metrics }) => (metrics?.lcp ?? 0) <= 2_500)
    assert.ok(poor > 0.05 && poor < 0.4, `${poor} poor`)
    assert.ok(good > 0.4, `${good} good`)
    const failed = shareOf(({ errors }) => errors !== undefined)
    assert.ok(failed > 0.005 && failed < 0.05, `${failed} with errors`)
  })
})

describe('startOf', () => {
  it('returns the full hour that is the given number of days ago', () => {
    assert.equal(startOf(7, NOON + 1), NOON - 7 * 24 * HOUR_MS)
  })
})

const baseUrl = 'http://localhost'
const SHOP = { site: 'https://shop.example', email: 'ada@example.com', baseUrl }

describe('demoSite', () => {
  let accounts: Accounts
  beforeEach(() => {
    const plans = readPlans(undefined)
    accounts = { db: openDb(':memory:'), plans, now: NOON, command: 'npm run demo:rum' }
  })

  it('adds the site and its user once', async () => {
    const made = await demoSite(accounts, SHOP)
    assert.equal(made.name, SHOP.site)
    assert.equal((await demoSite(accounts, SHOP)).id, made.id)
    const rows = await accounts.db.select().from(auditLog).orderBy(auditLog.id).all()
    const actions = rows.map(({ app, action }) => `${app} ${action}`)
    assert.deepEqual(actions, ['cli create_user', 'cli create_site'])
  })

  it('adds no more sites than the plan allows', async () => {
    await userWithPlan(accounts, { email: SHOP.email, plan: 'free' })
    await demoSite(accounts, SHOP)
    const site = 'https://other.example'
    const reason = 'ada@example.com has the 1 sites that the plan free allows'
    const message = `Cannot add ${site}: ${reason}`
    await assert.rejects(demoSite(accounts, { ...SHOP, site }), { message })
  })
})

describe('the options of the demo', () => {
  it('require only the site', () => {
    const usual = { days: 7, views: 2000, email: 'demo@example.com' }
    const read = readDemoOptions(['--site', 'https://Shop.example/'])
    assert.deepEqual(read, { site: 'https://shop.example', ...usual })
  })

  for (const [args, message] of [
    [[], /^--site is missing/],
    [['--site', 'shop'], /^--site must be an origin/],
    [['--site', SHOP.site, '--days', '91'], /^--days must be a whole number from 1 to 90/],
    [['--site', SHOP.site, '--days', 'x'], /^--days must be/],
    [['--site', SHOP.site, '--views', '0'], /^--views must be/],
    [['--site', SHOP.site, '--email', 'x'], /^--email must be an e-mail address/],
  ] as const) {
    it(`are refused: ${args.join(' ') || 'none'}`, () => {
      assert.throws(() => readDemoOptions([...args]), { message })
    })
  }
})
