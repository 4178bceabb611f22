import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readPlans, toPublicPlan } from '../../lib/config/plans.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
let count = 0

function fileOf(content: unknown): string {
  const path = join(folder, `plans-${count++}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const plan = (id: string, price: number, extra: object = {}) => {
  const limits = { monthlyCap: 1, maxKeys: 1, maxSites: 0, requestsPerMinute: 1 }
  return { id, name: id.toUpperCase(), ...limits, price, ...extra }
}

describe('readPlans', () => {
  it('reads the bundled plans with the limits of the contract', () => {
    const { list, free } = readPlans(undefined)
    const limits = list.map((one) => `${one.id} ${one.monthlyCap} ${one.requestsPerMinute}`)
    assert.deepEqual(limits, ['free 5000 10', 'starter 25000 120', 'pro 100000 600'])
    const prices = list.map(({ price }) => price)
    assert.deepEqual(prices, [0, 9, 29])
    assert.equal(free, list[0])
  })

  it('sorts the plans of a file by price', () => {
    const plans = readPlans(fileOf([plan('big', 9.5), plan('free', 0), plan('mid', 5)]))
    const ids = plans.list.map(({ id }) => id)
    assert.deepEqual(ids, ['free', 'mid', 'big'])
    assert.equal(plans.find('mid')?.price, 5)
    assert.equal(plans.find('toString'), undefined)
  })

  it('has a plan for the people of the house, which is neither listed nor sold', () => {
    const { list, house, assignable, find, ofUser } = readPlans(undefined)
    assert.deepEqual([find(house.id), ofUser(house.id)], [undefined, house])
    assert.deepEqual(assignable, [...list, house])
    const { monthlyCap, maxKeys, maxSites, requestsPerMinute } = house
    assert.ok(requestsPerMinute >= 6_000 && monthlyCap >= 1e9 && maxKeys >= 1e3 && maxSites >= 1e3)
  })

  it('takes the plan of the house from the file, if it has one', () => {
    const { list, house, assignable } = readPlans(fileOf([plan('free', 0), plan('unlimited', 0)]))
    assert.equal(
      house,
      list.find(({ id }) => id === 'unlimited'),
    )
    assert.equal(house.requestsPerMinute, 1)
    assert.deepEqual(assignable, list)
  })

  const bad = {
    'text that is not JSON': '{',
    'JSON that is not a list': {},
    'a list without a free plan': [plan('pro', 1)],
    'the id of the hidden plan': [plan('free', 0), plan('demo', 0)],
    'an id whose price would be that of overages': [plan('free', 0), plan('overage', 5)],
    'a free plan with a price': [plan('free', 1)],
    'a repeated id': [plan('free', 0), plan('free', 0)],
    'an id with other characters': [plan('free', 0), plan('A"', 1)],
    'a negative cap': [plan('free', 0, { monthlyCap: -1 })],
    'a fraction as the number of keys': [plan('free', 0, { maxKeys: 1.5 })],
    'a rate of zero': [plan('free', 0, { requestsPerMinute: 0 })],
    'text instead of a number': [plan('free', 0, { maxSites: '1' })],
    'an unknown field': [plan('free', 0, { maxKey: 1 })],
    'two ids with one variable for a price': [plan('free', 0), plan('a', 1), plan('a-yearly', 9)],
    'a currency that is no code': [plan('free', 0), plan('a', 1, { currency: 'USD' })],
    'a trial of no days': [plan('free', 0), plan('a', 1, { trialDays: 0 })],
    'an empty name': [plan('free', 0, { name: '' })],
  }
  for (const [why, content] of Object.entries(bad)) {
    it(`refuses ${why} in one line that names the file`, () => {
      const path = fileOf(content)
      const isOneLine = ({ message }: Error) =>
        message.startsWith(`Cannot read the plans in ${path}: `) && !message.includes('\n')
      assert.throws(() => readPlans(path), isOneLine)
    })
  }

  it('accepts a currency, a trial, and an id that ends in -yearly', () => {
    const extra = { currency: 'eur', trialDays: 14 }
    const { find } = readPlans(fileOf([plan('free', 0), plan('a-yearly', 9, extra)]))
    assert.equal(find('a-yearly')?.trialDays, 14)
  })

  it('refuses a missing file', () => {
    assert.throws(() => readPlans(join(folder, 'none.json')), /Cannot read the plans .*ENOENT/)
  })
})

describe('toPublicPlan', () => {
  it('has exactly the fields of the contract', () => {
    const { free } = readPlans(undefined)
    const { requestsPerMinute: _, ...fields } = free
    assert.deepEqual(toPublicPlan(free, undefined), { ...fields, stripePriceId: null })
    assert.equal(toPublicPlan(free, 'price_1').stripePriceId, 'price_1')
  })
})
