import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { plot, type Row } from '../../scripts/bench/plot.ts'
import { decadeScale, linearScale, stepScale } from '../../scripts/bench/plot-scale.ts'

const XS = [1, 1_000, 1_000_000]

function makeRow(ys: readonly (readonly number[])[]): Row {
  return {
    title: 'Latency (ms)',
    y: linearScale(ys.flat()),
    lines: ['p50', 'p99'],
    panels: [{ title: 'keys & <more>', x: stepScale(XS), xs: XS, ys }],
  }
}

const dots = (svg: string) =>
  [...svg.matchAll(/<circle class="dot (\w+)" cx="([^"]+)" cy="([^"]+)"/g)].map(
    ([, line, x, y]) => ({ line, x: Number(x), y: Number(y) }),
  )

describe('plot', () => {
  it('draws higher values higher, and from left to right', () => {
    const [low, middle, high] = dots(plot('Growth', [makeRow([[1, 2, 4]])])).slice(-3)
    assert.ok(low && middle && high)
    assert.ok(low.x < middle.x && middle.x < high.x)
    assert.ok(low.y > middle.y && middle.y > high.y)
  })

  it('names axes, marks and lines, with signs of XML escaped', () => {
    const svg = plot('Growth', [makeRow([[1, 2, 4]])])
    const texts = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text)
    for (const text of ['Latency (ms)', 'p50', 'p99', '1,000', '1M', '4']) {
      assert.ok(texts.includes(text), `${text} of ${texts.join(', ')}`)
    }
    assert.ok(texts.includes('keys &#38; &#60;more&#62;'))
  })

  it('leaves out what is not known', () => {
    const svg = plot('Growth', [makeRow([[1, Number.NaN, 4]])])
    assert.doesNotMatch(svg, /NaN|Infinity/)
    assert.equal(dots(svg).length, dots(plot('Growth', [makeRow([[1, 2, 4]])])).length - 1)
  })
})

describe('linearScale', () => {
  it('begins at 0 and marks round numbers up to over the largest value', () => {
    assert.deepEqual(linearScale([3, 107]).ticks, [0, 50, 100, 150])
    assert.equal(linearScale([75]).place(0), 0)
  })

  it('has an end where nothing is over 0', () => {
    assert.deepEqual(linearScale([0]).ticks, [0, 1])
    assert.deepEqual(linearScale([Number.NaN]).ticks, [0, 1])
  })
})

describe('decadeScale', () => {
  it('spans the powers of ten around the values', () => {
    const { ticks, place } = decadeScale([0.2, 46])
    assert.deepEqual(ticks, [0.1, 1, 10, 100])
    assert.equal(place(0.1), 0)
    assert.equal(place(100), 1)
  })
})

describe('stepScale', () => {
  it('marks every value, the first and last at the ends', () => {
    const { ticks, place } = stepScale(XS)
    assert.deepEqual(ticks, XS)
    assert.deepEqual(
      XS.map((x) => Math.round(place(x) * 100)),
      [0, 50, 100],
    )
  })
})
