import { bordersOf, landOf, readAtlas, toPath } from './outlines.ts'

/** The outlines are coarser than a tenth of a degree. */
const UNITS_PER_DEGREE = 10

/**
 * Draws land and borders of the world as an SVG image, from Natural Earth's 1:110,000,000 outlines.
 * The projection is equirectangular: x is the longitude and y the negative latitude, in tenths of a
 * degree. A second image beside the first therefore continues beyond 180°. Lines keep their width at
 * any size.
 */
export async function drawWorldMap(): Promise<Uint8Array> {
  const atlas = await readAtlas('110m')
  const land = toPath(landOf(atlas), { unitsPerDegree: UNITS_PER_DEGREE, end: 'z' })
  const borders = toPath(bordersOf(atlas), { unitsPerDegree: UNITS_PER_DEGREE, end: '' })
  return Buffer.from(toSvg(land, borders))
}

/**
 * Sets its own colours for light and dark pages, because the style sheet of the page does not apply
 * inside an image.
 */
function toSvg(land: string, borders: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1800 -900 3600 1800" preserveAspectRatio="none">
<style>
path { stroke-linejoin: round; vector-effect: non-scaling-stroke }
.land { fill: #d9dbe1; stroke: #9297a1; stroke-width: 0.75 }
.borders { fill: none; stroke: #fff; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  .land { fill: #3b3f48; stroke: #747a86 }
  .borders { stroke: #1a1c21 }
}
</style>
<path class="land" d="${land}"/>
<path class="borders" d="${borders}"/>
</svg>
`
}
