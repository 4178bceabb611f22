import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keepUntilChange } from '../../lib/accounts/site-owner.ts'

function open() {
  const sites = new Map<string, string>()
  const listeners: (() => void)[] = []
  let asked = 0
  const find = keepUntilChange(
    async (name) => {
      asked += 1
      return sites.get(name) ?? null
    },
    (listener) => {
      listeners.push(listener)
    },
  )
  const change = () => {
    for (const listener of listeners) listener()
  }
  return { sites, find, change, asked: () => asked }
}

describe('the sites that are kept', () => {
  it('are asked for once until they change', async () => {
    const { sites, find, change, asked } = open()
    sites.set('https://one.example', 'one')
    const found = await Promise.all([find('https://one.example'), find('https://one.example')])
    assert.deepEqual(found, ['one', 'one'])
    assert.equal(await find('https://one.example'), 'one')
    assert.equal(asked(), 1)
    sites.set('https://one.example', 'other')
    change()
    assert.equal(await find('https://one.example'), 'other')
  })

  it('do not include origins without a site, so that a new one receives at once', async () => {
    const { sites, find } = open()
    assert.equal(await find('https://one.example'), null)
    sites.set('https://one.example', 'one')
    assert.equal(await find('https://one.example'), 'one')
  })

  it('do not include an answer that a change has overtaken', async () => {
    const { sites, find, change } = open()
    sites.set('https://one.example', 'one')
    const old = find('https://one.example')
    sites.delete('https://one.example')
    change()
    assert.equal(await old, 'one')
    assert.equal(await find('https://one.example'), null)
  })

  it('are asked for again after the database has failed', async () => {
    let isAway = true
    const find = keepUntilChange(
      async () => {
        if (isAway) throw new Error('away')
        return 'one'
      },
      () => {},
    )
    await assert.rejects(find('https://one.example'), /away/)
    isAway = false
    assert.equal(await find('https://one.example'), 'one')
  })
})
