import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { parseAddress } from '../../lib/address.ts'
import { BEACON_MAX_BYTES, Beacon } from '../../lib/contract/telemetry-schemas.ts'
import { createTraffic, startOf } from '../../scripts/demo-rum/traffic.ts'
import { NOON } from '../helpers.ts'

const HOUR_MS = 3_600_000
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

describe('the traffic of the demo', () => {
  it('is the same for the same seed, and another one for another', () => {
    assert.deepEqual([...createTraffic(WEEK)], traffic)
    assert.notDeepEqual([...createTraffic({ ...WEEK, seed: 2 })], traffic)
  })

  it('holds what the endpoint takes', () => {
    for (const { origin, address, body } of traffic) {
      assert.equal(origin, WEEK.origin)
      assert.ok(parseAddress(address), address)
      assert.ok(Buffer.byteLength(body) <= BEACON_MAX_BYTES)
    }
  })

  it('is in the order of time, within the period', () => {
    const times = traffic.map(({ at }) => at)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    assert.ok((times[0] ?? 0) >= WEEK.from && (times.at(-1) ?? WEEK.until) < WEEK.until)
  })

  it('has about as many views as it is told', () => {
    const perDay = traffic.length / 7
    assert.ok(perDay > 1_800 && perDay < 2_500, `${perDay} a day`)
  })

  it('follows the day: few come at night', () => {
    const atHour = (hour: number) =>
      traffic.filter(({ at }) => Math.floor(at / HOUR_MS) % 24 === hour).length
    assert.ok(atHour(19) > 4 * atHour(3))
  })

  it('has slow and fast devices', () => {
    const lcpOf = (type: string) =>
      median(
        beacons.flatMap(({ deviceType, metrics }) =>
          deviceType === type ? (metrics?.lcp ?? []) : [],
        ),
      )
    assert.ok(lcpOf('mobile') > 1.3 * lcpOf('desktop'))
    for (const type of ['desktop', 'mobile', 'tablet']) {
      assert.ok(shareOf(({ deviceType }) => deviceType === type) > 0.02, type)
    }
  })

  it('has good and poor pages, and few errors', () => {
    const poor = shareOf(({ metrics }) => (metrics?.lcp ?? 0) > 4_000)
    const good = shareOf(({ metrics }) => (metrics?.lcp ?? 0) <= 2_500)
    assert.ok(poor > 0.05 && poor < 0.4, `${poor} poor`)
    assert.ok(good > 0.4, `${good} good`)
    const failed = shareOf(({ errors }) => errors !== undefined)
    assert.ok(failed > 0.005 && failed < 0.05, `${failed} with errors`)
  })
})

describe('the start of the demo', () => {
  it('is a full hour, as many days ago', () => {
    assert.equal(startOf(7, NOON + 1), NOON - 7 * 24 * HOUR_MS)
  })
})
