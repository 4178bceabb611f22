import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Answer, createHasOffsetsOf, type Sample } from '../../../lib/geo/accuracy/answer.ts'
import { score } from '../../../lib/geo/accuracy/measures.ts'
import { makeReport } from '../../../lib/geo/accuracy/report.ts'
import { createRandom } from '../../../scripts/parts/random.ts'
import { answer, sample } from './samples.ts'

const BERLIN = { latitude: 52.52, longitude: 13.4 }
/** 26.6 km from Berlin. */
const POTSDAM = { latitude: 52.4, longitude: 13.06 }

const newRandom = () => createRandom(7)
const options = {
  knownRegions: new Set(['DE-BE', 'DE-BB']),
  hasOffsetsOf: createHasOffsetsOf(2026),
  newRandom,
}
const scoreOf = (one: Sample, its: Answer) => {
  const scores = Object.entries(score([one], [its], options))
  return Object.fromEntries(scores.map(([name, { perPrefix }]) => [name, perPrefix.value]))
}

describe('the measures', () => {
  it('compare only the country if nothing else is known', () => {
    assert.deepEqual(scoreOf(sample(), answer({ city: BERLIN, region: 'DE-BE' })), { country: 1 })
    assert.deepEqual(scoreOf(sample(), answer({ country: undefined })), { country: 0 })
  })

  it('compare regions of the level that answers have', () => {
    const inBerlin = answer({ region: 'DE-BE' })
    assert.equal(scoreOf(sample({ region: 'DE-BE' }), inBerlin)['region'], 1)
    assert.equal(scoreOf(sample({ region: 'DE-BB' }), inBerlin)['region'], 0)
    assert.equal(scoreOf(sample({ region: 'DE-99' }), inBerlin)['region'], undefined)
  })

  it('count a missing city as wrong, except where they say otherwise', () => {
    const nowhere = { within25Km: 0, within50Km: 0, within100Km: 0, timezone: 0 }
    const scores = { country: 1, namesCity: 0, ...nowhere }
    assert.deepEqual(scoreOf(sample({ coordinates: BERLIN }), answer()), scores)
  })

  it('compare the distance with the stated radius, in miles', () => {
    const near = { ...POTSDAM, accuracyRadius: 16 }
    const { medianErrorKm, ...scores } = scoreOf(
      sample({ coordinates: BERLIN }),
      answer({ city: near, timezone: 'Europe/Vienna' }),
    )
    assert.equal(medianErrorKm?.toFixed(1), '26.6')
    const distance = { within25Km: 0, within50Km: 1, within100Km: 1, within50KmIfNamed: 1 }
    const radius = { insideRadius: 0, insideRadiusAndAllowance: 1 }
    assert.deepEqual(scores, { country: 1, namesCity: 1, ...distance, timezone: 1, ...radius })
    const wide = answer({ city: { ...POTSDAM, accuracyRadius: 17 } })
    assert.equal(scoreOf(sample({ coordinates: BERLIN }), wide)['insideRadius'], 1)
  })
})

describe('createHasOffsetsOf', () => {
  it('compares the offsets of January and July', () => {
    const hasOffsetsOf = createHasOffsetsOf(2026)
    assert.equal(hasOffsetsOf('Europe/Paris', BERLIN), true)
    // One hour ahead of UTC in January, but in July, too.
    assert.equal(hasOffsetsOf('Africa/Lagos', BERLIN), false)
    assert.equal(hasOffsetsOf('Nowhere/Else', BERLIN), false)
  })
})

describe('makeReport', () => {
  it('says who is right where the providers name different countries', () => {
    const [de, fr] = [answer(), answer({ country: 'FR' })]
    const samples = [sample(), sample({ group: 'two', country: 'FR' }), sample({ country: 'IT' })]
    const answered = {
      providers: [
        { name: 'a', answers: [de, de, de] },
        { name: 'b', answers: [de, fr, fr] },
      ],
      merged: { name: 'merged', answers: [de, de, de] },
      geoConfidence: [1, 0, 0],
      measured: [{ country: 0.75 }, { country: 0.75 }, undefined],
    }
    const { disagreements, calibration } = makeReport(samples, answered, { ...options, year: 2026 })
    assert.equal(disagreements.prefixes, 2)
    const shares = disagreements.right.map(({ name, share }) => [name, share.perPrefix.value])
    assert.deepEqual(Object.fromEntries(shares), { a: 0, b: 0.5, merged: 0 })
    assert.equal(disagreements.nobody?.perGroup.value, 0.5)
    const bins = calibration.map((one) => `${one.about} ${one.bins.map(({ stated }) => stated)}`)
    assert.deepEqual(bins, ['country 0,1', 'country 0.75'])
  })
})
