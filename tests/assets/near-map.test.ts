import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { drawTiles } from '../../lib/assets/near-map.ts'
import { loadTiles } from '../../lib/assets/page-assets.ts'
import { listCountries } from '../../lib/geo/place/countries.ts'
import { countTurns } from '../support/count-turns.ts'
import { isInside, linesIn } from './path-lines.ts'

const UNITS_PER_DEGREE = 50

let tiles: Awaited<ReturnType<typeof loadTiles>>['tiles']
before(async () => {
  tiles = (await loadTiles()).tiles
})

function imageOf(name: string): string {
  return Buffer.from(tiles.get(name)?.bytes ?? []).toString()
}

/** The outlines of a country on a tile, in degrees. */
function outlinesOf(name: string, code: string) {
  const [, data = ''] = new RegExp(`id="${code}" d="([^"]*)"`).exec(imageOf(name)) ?? []
  return linesIn(data, UNITS_PER_DEGREE)
}

describe('the near map', () => {
  it('lets other requests run while it is drawn', async () => {
    using turns = countTurns()
    await drawTiles()
    assert.ok(turns.count() > 20, `${turns.count()} turns`)
  })

  it('draws Britain finely, and with its islands', () => {
    const outlines = [...outlinesOf('5-1', 'GB'), ...outlinesOf('6-1', 'GB')]
    assert.ok(outlines.length > 20, `${outlines.length} outlines`)
    assert.ok(outlines.flat().length > 700, `${outlines.flat().length} points`)
  })

  it('knows each country by its code, where it is', () => {
    const places = {
      London: ['5-1', 'GB', -0.2, 51.5],
      Paris: ['6-1', 'FR', 2.3, 48.9],
      Pristina: ['6-1', 'XK', 21.2, 42.7],
      Hargeisa: ['7-2', '', 44.1, 9.6],
      Cayenne: ['4-2', 'GF', -52.5, 4.5],
      'Basse-Terre': ['3-2', 'GP', -61.7, 16.2],
      'Fort-de-France': ['3-2', 'MQ', -61.0, 14.65],
      Réunion: ['7-3', 'RE', 55.5, -21.1],
      Mayotte: ['7-3', 'YT', 45.15, -12.85],
      Bonaire: ['3-2', 'BQ', -68.27, 12.2],
      Longyearbyen: ['6-0', 'SJ', 15.6, 78.2],
      'Jan Mayen': ['5-0', 'SJ', -8.4, 71],
      'Christmas Island': ['9-3', 'CX', 105.65, -10.5],
      Anadyr: ['11-0', 'RU', 177.5, 66],
      'Chukotka beyond 180°': ['0-0', 'RU', -176, 67],
      Taipei: ['10-2', 'TW', 121.5, 25],
      Suva: ['11-3', 'FJ', 178.3, -18],
      'the South Pole': ['6-5', 'AQ', 0.5, -89.9],
    } as const
    for (const [name, [tile, code, longitude, latitude]] of Object.entries(places)) {
      const outlines =
        code === ''
          ? linesIn(/<path d="([^"]*)"/.exec(imageOf(tile))?.[1] ?? '', UNITS_PER_DEGREE)
          : outlinesOf(tile, code)
      assert.ok(isInside(outlines, longitude, latitude), name)
    }
    assert.ok(!isInside(outlinesOf('5-1', 'FR'), -0.2, 51.5))
  })

  it('has land for every country but those that the outlines lack', () => {
    const images = [...tiles.keys()].map(imageOf).join()
    const missing = listCountries()
      .map(({ code }) => code)
      .filter((code) => !images.includes(`id="${code}"`))
    assert.deepEqual(missing.sort(), ['BV', 'GI', 'TV', 'UM'])
  })

  it('draws nothing far outside of a tile, and cuts nothing within', () => {
    for (const [name] of tiles) {
      const [column = 0, row = 0] = name.split('-').map(Number)
      const [west, north] = [column * 30 - 180, row * 30 - 90]
      const paths = [...imageOf(name).matchAll(/ d="([^"]*)"/g)].map(([, data = '']) => data)
      for (const [x, y] of paths.flatMap((data) => linesIn(data, UNITS_PER_DEGREE)).flat()) {
        assert.ok(x >= west - 0.7 && x <= west + 30.7, `${name}: ${x}`)
        assert.ok(y >= north - 0.7 && y <= north + 30.7, `${name}: ${y}`)
      }
    }
  })

  it('covers the world in 72 small images, with colours for both schemes, without links', () => {
    assert.equal(tiles.size, 72)
    for (const [name, { bytes, gzipped }] of tiles) {
      assert.ok(bytes.length < 45_000, `${name}: ${bytes.length} bytes`)
      assert.ok(gzipped.length < 15_000, `${name}: ${gzipped.length} bytes compressed`)
      assert.match(imageOf(name), /path:target.*prefers-color-scheme: dark.*path:target/s)
      assert.doesNotMatch(imageOf(name), /script|href|url\(|@import/)
    }
  })
})
