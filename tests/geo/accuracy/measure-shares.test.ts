import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { measureShares, type Observation } from '../../../lib/geo/accuracy/measure-shares.ts'
import { AGREEMENTS, type Basis, DETAILS } from '../../../lib/geo/place/measured-confidence.ts'

const BASIS: Basis = { product: 'one', agreement: '1', detail: 'city' }

function observe(group: string, isRight: boolean, basis = BASIS): Observation {
  return { group, basis, right: { country: isRight, region: isRight, city: isRight } }
}

/** The measured share of right cities. */
function cityShare(observations: readonly Observation[], basis = BASIS): number | undefined {
  const keyOf = ({ product, agreement, detail }: Basis) => `${product} ${agreement} ${detail}`
  return measureShares(observations).find((row) => keyOf(row) === keyOf(basis))?.city
}

const many = (count: number, group: string, isRight: boolean, basis = BASIS) =>
  Array.from({ length: count }, () => observe(group, isRight, basis))

describe('measureShares', () => {
  it('is the plain share if all answers rest on the same', () => {
    const observations = [...many(30, 'a', true), ...many(10, 'a', false)]
    assert.equal(cityShare(observations), 0.75)
  })

  it('weighs a group by the root of its answers', () => {
    // 100 right answers of one group weigh 10, 25 wrong ones of another 5.
    const observations = [...many(100, 'large', true), ...many(25, 'small', false)]
    assert.equal(cityShare(observations), 0.67)
  })

  it('draws the share of few answers towards that of the more general kind', () => {
    const rare: Basis = { ...BASIS, detail: 'city, 10 km' }
    const common = many(10_000, 'a', true)
    const share = (wrong: number) => cityShare([...common, ...many(wrong, 'a', false, rare)], rare)
    assert.ok((share(1) ?? 0) > 0.98)
    assert.ok((share(2_000) ?? 1) < 0.1)
    assert.equal(cityShare(common, { ...BASIS, agreement: 'none' }), 0.99, 'of no answer at all')
  })

  it('never states certainty', () => {
    assert.equal(cityShare(many(1_000, 'a', true)), 0.99)
    assert.equal(cityShare(many(1_000, 'a', false)), 0.01)
  })

  it('leaves out what the truth does not say', () => {
    const right = { country: true, region: false, city: undefined }
    const silent = { ...observe('a', true), right }
    assert.equal(cityShare([observe('a', true), observe('a', false), silent]), 0.5)
  })

  it('says nothing of a part about which the truth says nothing', () => {
    const right = { country: true, region: undefined, city: undefined }
    const [row] = measureShares([{ group: 'a', basis: BASIS, right }]).slice(-1)
    assert.deepEqual(row, { ...BASIS, detail: 'city, wider', country: 0.99 })
  })

  it('names what the detail names, for each agreement and detail', () => {
    const two = observe('a', true, { ...BASIS, product: 'two' })
    const rows = measureShares([observe('a', true), two])
    assert.equal(rows.length, 2 * AGREEMENTS.length * DETAILS.length)
    for (const { detail, region, city } of rows) {
      assert.equal(region === undefined, detail === 'country')
      assert.equal(city === undefined, detail === 'country' || detail === 'region')
    }
  })

  it('does not depend on the order of the answers', () => {
    const basis = fc.constantFrom(...DETAILS).map((detail) => ({ ...BASIS, detail }))
    const answer = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean(), basis)
    const property = fc.property(fc.array(answer, { minLength: 1 }), (answers) => {
      const observations = answers.map((one) => observe(...one))
      assert.deepEqual(measureShares(observations), measureShares(observations.toReversed()))
    })
    fc.assert(property)
  })
})
