import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Answer, type Sample, toAnswer } from '../../../lib/geo/accuracy/answer.ts'
import { gainOf, listOrders } from '../../../lib/geo/accuracy/orders.ts'
import { type ServedFile, suggestOrder } from '../../../lib/geo/accuracy/suggest.ts'
import { locate } from '../../../lib/geo/answer/locate.ts'
import type { RawPlace } from '../../../lib/geo/place/place.ts'
import { createRandom } from '../../../scripts/parts/random.ts'
import { fakeDatabase } from '../fake-database.ts'
import { answer as answerOf, sample as sampleOf } from './samples.ts'

const newRandom = () => createRandom(7)

const sample = (country: string, group: string, coordinates?: Sample['coordinates']) =>
  sampleOf({ country, group, coordinates })
const answer = (country: string, city?: Answer['city']) => answerOf({ country, city })
const served = (provider: string, path: string, place?: RawPlace): ServedFile => ({
  ...fakeDatabase(provider, place, { asn: 64_500 }),
  path,
  isMovable: path !== 'overlay',
})

const BERLIN = { latitude: 52.52, longitude: 13.4 }

describe('listOrders', () => {
  it('lists all orders, the present one first', () => {
    const { orders, isBounded } = listOrders(['a', 'b', 'c'])
    assert.equal(isBounded, false)
    const words = orders.map((order) => order.join(''))
    assert.deepEqual(words, ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
  })

  it('moves only the first five of more providers', () => {
    const { orders, isBounded } = listOrders([...'abcdefg'])
    assert.deepEqual([orders.length, isBounded], [120, true])
    assert.ok(orders.every((order) => order.slice(5).join('') === 'fg'))
  })
})

describe('gainOf', () => {
  it('has the differences per prefix and per group, and their mean', () => {
    const placed = sample('DE', 'one', BERLIN)
    const samples = [placed, placed, sample('DE', 'one'), sample('DE', 'two')]
    const present = [answer('FR'), answer('DE', BERLIN), answer('DE'), answer('DE')]
    const other = [answer('DE', BERLIN), answer('DE', BERLIN), answer('DE'), answer('FR')]
    const gain = gainOf(samples, { present, other }, newRandom)
    // One more is right and one more is wrong.
    assert.equal(gain?.country.perPrefix.value, 0)
    assert.equal(gain?.country.perGroup.value, (1 / 3 - 1) / 2)
    assert.equal(gain?.within50Km?.perPrefix.value, 0.5)
    assert.equal(gain?.within50Km?.perGroup.value, 0.5)
    assert.equal(gain?.overall.value.toFixed(6), ((0 - 1 / 3 + 0.5 + 0.5) / 4).toFixed(6))
  })
})

describe('suggestOrder', () => {
  const files = [
    served('overlay', 'overlay', { country: { code: undefined } }),
    served('wrong', 'wrong.mmdb', { country: { code: 'FR' } }),
    served('asn', 'asn.mmdb'),
    served('right', 'right.mmdb', { country: { code: 'DE' } }),
  ]
  const suggest = async (samples: readonly Sample[], own = files) => {
    const present = samples.map(({ address }) => toAnswer(locate(own, address)))
    let tried = 0
    const onOrder = async () => {
      tried += 1
    }
    const suggestion = await suggestOrder(samples, own, { present, newRandom, onOrder })
    return { tried: () => tried, ...suggestion }
  }

  it('puts the provider first that is right, and leaves other files in their places', async () => {
    const { present, orders, best, tried } = await suggest([sample('DE', 'a'), sample('DE', 'b')])
    assert.deepEqual([present, orders, tried()], [['wrong', 'right'], 2, 1])
    assert.deepEqual(best?.files, ['right.mmdb', 'asn.mmdb', 'wrong.mmdb'])
    assert.deepEqual(best?.gain.overall, { value: 1, low: 1, high: 1 })
    assert.equal(best?.isClearlyBetter, true)
  })

  it('is not sure if the groups disagree, or there is only one', async () => {
    const two = await suggest([sample('DE', 'a'), sample('DE', 'a'), sample('FR', 'b')])
    assert.equal(two.best?.isClearlyBetter, false)
    const one = await suggest([sample('DE', 'a')])
    assert.deepEqual([one.best?.gain.overall, one.best?.isClearlyBetter], [{ value: 1 }, false])
  })

  it('has nothing to suggest for one provider', async () => {
    const { best, orders } = await suggest([sample('DE', 'a')], files.slice(0, 2))
    assert.deepEqual([best, orders], [undefined, 1])
  })
})
