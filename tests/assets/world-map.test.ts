import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { loadAsset } from '../../lib/assets/page-assets.ts'
import { drawWorldMap } from '../../lib/assets/world-map.ts'
import { isInside, linesIn } from './path-lines.ts'

let svg: string
before(async () => {
  svg = Buffer.from(await drawWorldMap()).toString()
})

/** The lines of a path, in degrees. */
function linesOf(name: string) {
  return linesIn(new RegExp(`class="${name}" d="([^"]*)"`).exec(svg)?.[1] ?? '', 10)
}

function isLand(longitude: number, latitude: number): boolean {
  return isInside(linesOf('land'), longitude, latitude)
}

describe('the world map', () => {
  it('has land and sea in the right places', () => {
    const land = {
      Madrid: [-3.7, 40.4],
      Moscow: [37.6, 55.8],
      Anadyr: [177.5, 66],
      'Chukotka beyond 180°': [-176, 67],
      Denver: [-105, 39.7],
      'Alice Springs': [133.9, -23.7],
      'the South Pole': [0, -89.9],
    } as const
    for (const [name, [longitude, latitude]] of Object.entries(land)) {
      assert.ok(isLand(longitude, latitude), name)
    }
    const sea = { Atlantic: [-40, 30], Pacific: [-150, 0], Arctic: [0, 88], Indian: [80, -30] }
    for (const [name, [longitude = 0, latitude = 0]] of Object.entries(sea)) {
      assert.ok(!isLand(longitude, latitude), name)
    }
  })

  it('has no line across it where an outline crosses 180°', () => {
    const lengths = [...linesOf('land'), ...linesOf('borders')].flatMap((line) =>
      line.slice(1).map(([x, y], at) => {
        const [fromX, fromY] = line[at] ?? [x, y]
        // The lower edge of the map closes Antarctica.
        return y === 90 && fromY === 90 ? 0 : Math.abs(x - fromX)
      }),
    )
    assert.ok(lengths.length > 5_000)
    assert.ok(Math.max(...lengths) < 45, String(Math.max(...lengths)))
  })

  it('is self-contained: less than 100 kB, with colours for both schemes, without links', async () => {
    assert.ok(svg.length < 100_000)
    assert.match(svg, /prefers-color-scheme: dark/)
    assert.doesNotMatch(svg, /script|href|url\(|@import/)
    assert.equal(Buffer.from((await loadAsset('world-map.svg')).bytes).toString(), svg)
  })
})
