import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { VIEW, viewAround } from '../../pages/map-view.ts'

const PLACE = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  accuracyRadius: fc.option(fc.integer({ min: 1, max: 20_000 }), { nil: undefined }),
})

/** Pixels: no sum of floating-point numbers is further off. */
const ROUNDING = 1e-6

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
