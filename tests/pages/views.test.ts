import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { databaseName } from '../../lib/contract/geo/database-names.ts'
import type { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'
import { findBundled } from '../../lib/geo/files/bundled.ts'
import { PREPARED } from '../../lib/geo/files/prepare.ts'
import { OPTIONAL } from '../../lib/geo/files/source-files.ts'
import { deviceName } from '../../pages/dashboard/account/sessions.tsx'
import { factsOf, placeOf } from '../../pages/facts.ts'
import { VIEW, viewAround } from '../../pages/map-view.ts'
import { type Outcome, OutcomeView } from '../../pages/outcome.tsx'

/** A result in which every text is `text`. */
function resultWith(text: string): GeolocationResult {
  return {
    query: { type: text, value: text, ipVersion: 6 },
    location: {
      continent: { code: text, name: text },
      country: { code: text, name: text, unions: [text] },
      region: { code: text, name: text },
      city: text,
      district: text,
      postalCode: text,
      coordinates: { latitude: -1.5, longitude: -0.25, accuracyRadius: 1 },
      timezone: text,
      utcOffset: text,
      geoConfidence: 0.75,
    },
    network: { asn: text, organization: text, domain: text },
    sources: { geo: [text], asn: [text], tz: [text] },
    meta: { precision: 'city', tier: text, requestId: text, degraded: true },
  }
}

function show(outcome: Outcome): string {
  return String(OutcomeView({ outcome, isOwn: false }))
}

function located(result: GeolocationResult): string {
  return show({ kind: 'located', result, request: { path: '/v1/ip/::', status: 200, ms: 3 } })
}

function tagsOf(html: string): string[] {
  return html.match(/<[^>]*>/g) ?? []
}

const UNSAFE = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '/', '=', 'b', ';') }),
)

describe('OutcomeView', () => {
  it('escapes every text of a result', () => {
    const expected = tagsOf(located(resultWith('x')))
    fc.assert(
      fc.property(UNSAFE, (text) => {
        assert.deepEqual(tagsOf(located(resultWith(text))), expected)
      }),
    )
  })

  it('escapes an invalid address', () => {
    const expected = tagsOf(show({ kind: 'invalid', text: 'x' }))
    fc.assert(
      fc.property(UNSAFE, (text) => {
        assert.deepEqual(tagsOf(show({ kind: 'invalid', text })), expected)
      }),
    )
  })
})

describe('placeOf', () => {
  const continent = { code: 'EU', name: 'Europe' }

  it('lists names from the smallest place to the largest, without repetition', () => {
    const region = { code: 'DE-BE', name: 'Berlin' }
    const country = { code: 'DE', name: 'Germany' }
    const place = placeOf({ location: { continent, country, region, city: 'Berlin' } })
    assert.equal(place, 'Berlin, Germany')
  })

  it('returns the continent if nothing else is known, and null if nothing is', () => {
    assert.equal(placeOf({ location: { continent } }), 'Europe')
    assert.equal(placeOf({}), null)
  })
})

describe('databaseName', () => {
  it('knows the providers and files that the server comes with or makes', () => {
    const bundled = findBundled()
    const files = [...bundled.dbipCity.map(({ path }) => path), ...Object.values(PREPARED)]
    const ids = [...files, ...Object.values(OPTIONAL)]
      .filter((file) => file.endsWith('.mmdb'))
      .map((file) => basename(file, '.mmdb'))
    for (const id of ids) assert.notEqual(databaseName(id), id)
    assert.equal(databaseName('dbip-city-ipv6'), 'DB-IP City Lite, IPv6')
    assert.equal(databaseName('ip-location-db'), 'ip\u2011location\u2011db')
  })

  it('keeps the names of other files', () => {
    for (const name of ['mine', 'none', 'ok', 'secret', 'constructor', '__proto__'])
      assert.equal(databaseName(name), name)
  })
})

describe('factsOf', () => {
  it('lists only known facts', () => {
    assert.deepEqual(factsOf({ meta: { precision: 'none' } }), [])
    const facts = Object.fromEntries(factsOf(resultWith('x')))
    assert.equal(facts['Coordinates'], '1.5000°\u00a0S, 0.2500°\u00a0W')
    assert.equal(facts['Accuracy'], 'within 1 mile')
    assert.equal(facts['Providers agree'], '75%')
    assert.equal(facts['Sources'], 'x')
  })

  it('calls precisions and providers by their names', () => {
    const sources = { geo: ['maxmind', 'dbip'], asn: ['ip-location-db'], tz: ['maxmind'] }
    assert.deepEqual(factsOf({ sources, meta: { precision: 'city' } }), [
      ['Precision', 'City'],
      ['Sources', 'MaxMind, DB-IP, ip\u2011location\u2011db'],
    ])
  })
})

const PLACE = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  accuracyRadius: fc.option(fc.integer({ min: 1, max: 20_000 }), { nil: undefined }),
})

/** Pixels: no sum of floating-point numbers is further off. */
const ROUNDING = 1e-6

function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) < ROUNDING
}

function pointsOf(path: string): [number, number][] {
  const numbers = (path.match(/-?[\d.]+/g) ?? []).map(Number)
  return Array.from({ length: numbers.length / 2 }, (_, at) => [
    numbers[2 * at] ?? Number.NaN,
    numbers[2 * at + 1] ?? Number.NaN,
  ])
}

describe('the view around a place', () => {
  it('centres the place on a world map that fills the width', () => {
    fc.assert(
      fc.property(PLACE, (place) => {
        const { worlds } = viewAround(place)
        const middles = worlds.map(({ x, y, width, height }) => [
          x + ((place.longitude + 180) / 360) * width - VIEW.width / 2,
          y + ((90 - place.latitude) / 180) * height - VIEW.height / 2,
        ])
        assert.ok(
          middles.some(([dx = 1, dy = 1]) => Math.abs(dx) < ROUNDING && Math.abs(dy) < ROUNDING),
        )
        assert.ok(Math.min(...worlds.map(({ x }) => x)) <= ROUNDING)
        assert.ok(Math.max(...worlds.map(({ x, width }) => x + width)) >= VIEW.width - ROUNDING)
      }),
    )
  })

  it('draws each tile where the map has it, and none if the view is wide', () => {
    fc.assert(
      fc.property(PLACE, (place) => {
        const { worlds, tiles } = viewAround(place)
        const [{ y: top, width, height }] = [worlds[0] ?? assert.fail()]
        assert.equal(tiles === null, (VIEW.height / height) * 180 > 32 + ROUNDING)
        for (const { name, ...tile } of tiles ?? []) {
          const [column = 0, row = 0] = name.split('-').map(Number)
          const west = tile.x + (0.1 / 360) * width
          assert.ok(worlds.some(({ x }) => isNear(west, x + (column / 12) * width)))
          assert.ok(isNear(tile.y + (0.1 / 180) * height, top + (row / 6) * height))
          assert.ok(isNear(tile.width, (30.2 / 360) * width))
          assert.ok(isNear(tile.height, (30.2 / 180) * height))
        }
      }),
    )
  })

  it('fills the view with tiles, as far as the map reaches', () => {
    const corners = [0, VIEW.width].flatMap((x) => [0, VIEW.height].map((y) => [x, y] as const))
    fc.assert(
      fc.property(PLACE, (place) => {
        const { worlds, tiles } = viewAround(place)
        const [{ y: top, height }] = [worlds[0] ?? assert.fail()]
        for (const [x, y] of corners.filter(([, at]) => at > top && at < top + height)) {
          const isFilled = (tiles ?? worlds).some((tile) => {
            const [right, bottom] = [tile.x + tile.width, tile.y + tile.height]
            return x >= tile.x - ROUNDING && x <= right + ROUNDING && y >= tile.y && y <= bottom
          })
          assert.ok(isFilled, `${x}, ${y}`)
        }
      }),
    )
  })

  it('takes few tiles', () => {
    const london = viewAround({ latitude: 51.5, longitude: -0.1, accuracyRadius: 6 })
    assert.deepEqual(
      london.tiles?.map(({ name }) => name),
      ['5-1', '6-1'],
    )
    const fiji = viewAround({ latitude: -17, longitude: 179 })
    assert.deepEqual(
      fiji.tiles?.map(({ name }) => name),
      ['11-3', '0-3'],
    )
  })

  it('makes paths only from finite numbers', () => {
    fc.assert(
      fc.property(PLACE, (place) => {
        const { area } = viewAround(place)
        if (area === null) return
        assert.match(area, /^M[-\d. L]+z$/)
        assert.ok(pointsOf(area).every((point) => point.every(Number.isFinite)))
      }),
    )
  })

  it('shows 200 miles around a place as a circle of that size', () => {
    for (const latitude of [0, 40, -60]) {
      const { area, worlds } = viewAround({ latitude, longitude: 10, accuracyRadius: 200 })
      const degree = (worlds[0]?.height ?? 0) / 180
      const radius = (200 / 69.0933) * degree
      for (const [x, y] of pointsOf(area ?? '')) {
        const distance = Math.hypot(x - VIEW.width / 2, y - VIEW.height / 2)
        assert.ok(Math.abs(distance / radius - 1) < 0.1, `${latitude}: ${distance} of ${radius}`)
      }
    }
  })

  it('continues beyond 180°', () => {
    const { worlds, area } = viewAround({ latitude: -17, longitude: 179, accuracyRadius: 300 })
    assert.equal(worlds.length, 2)
    const xs = pointsOf(area ?? '').map(([x]) => x)
    assert.ok(Math.max(...xs) - Math.min(...xs) < VIEW.width / 2)
  })

  it('closes an area around a pole at the edge of the map', () => {
    for (const latitude of [88, -88]) {
      const { area, worlds } = viewAround({ latitude, longitude: 0, accuracyRadius: 700 })
      const { y = 0, height = 0 } = worlds[0] ?? {}
      const edge = latitude > 0 ? y : y + height
      const ys = pointsOf(area ?? '').map(([, top]) => top)
      assert.equal(ys.filter((top) => Math.abs(top - edge) < 0.1).length, 2)
    }
  })

  it('omits an area that the point covers', () => {
    assert.equal(viewAround({ latitude: 51, longitude: 0, accuracyRadius: 6 }).area, null)
    assert.equal(viewAround({ latitude: 51, longitude: 0 }).area, null)
  })
})

const KIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const NAMES = {
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0': 'Firefox on Linux',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0.0.0 Safari/537.36':
    'Chrome on Linux',
  [`Mozilla/5.0 (X11; Linux x86_64) ${KIT} Chrome/156.0.0.0 Safari/537.36`]: 'Chrome on Linux',
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KIT} Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0`]:
    'Edge on Windows',
  [`Mozilla/5.0 (Linux; Android 16; K) ${KIT} Chrome/156.0.0.0 Mobile Safari/537.36`]:
    'Chrome on Android',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15':
    'Safari on macOS',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1':
    'Safari on iPhone',
  'curl/8.14.1': 'curl/8.14.1',
  'a <b>program</b>': 'a <b>program</b>',
}

describe('deviceName', () => {
  for (const [userAgent, name] of Object.entries(NAMES)) {
    it(`calls ${userAgent.slice(0, 60)} ${name}`, () => {
      assert.equal(deviceName(userAgent), name)
    })
  }
})
