import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { cacheReceivers, staleAfterChange, staleAfterSecond } from '../../lib/accounts/receivers.ts'
import { inSiteTransaction } from '../../lib/accounts/site-receiver.ts'
import { openDb } from '../../lib/db/open.ts'

const ORIGIN = 'https://shop.example'

function open() {
  const stored = { id: 'one' as string | null }
  const asked: string[] = []
  const clock = { now: 1_000 }
  const findNow = async (name: string) => {
    asked.push(name)
    return stored.id
  }
  const find = cacheReceivers(
    findNow,
    staleAfterSecond(() => clock.now),
  )
  return { stored, asked, clock, find, findNow }
}

describe('the receiver of the beacons of an origin', () => {
  it('is read once a second, however many beacons ask', async () => {
    const { asked, clock, find } = open()
    for (let n = 0; n < 999; n++) {
      assert.equal(await find(ORIGIN), 'one')
      clock.now += 1
    }
    assert.equal(asked.length, 1)
    clock.now += 1
    await find(ORIGIN)
    assert.equal(asked.length, 2)
  })

  it('is read again once this process has changed sites', async () => {
    const { stored, find } = open()
    await find(ORIGIN)
    const db = openDb(':memory:')
    await inSiteTransaction(db, async () => {
      stored.id = 'two'
    })
    assert.equal(await find(ORIGIN), 'two')
    db.$client.close()
  })

  it('is read again after a change that is reported, even if that comes while it is read', async () => {
    const { stored, findNow } = open()
    let report = () => {}
    const find = cacheReceivers(
      findNow,
      staleAfterChange((listener) => {
        report = listener
      }),
    )
    const early = find(ORIGIN)
    report()
    stored.id = 'two'
    assert.equal(await early, 'one')
    assert.equal(await find(ORIGIN), 'two')
    stored.id = 'three'
    assert.equal(await find(ORIGIN), 'two')
    report()
    assert.equal(await find(ORIGIN), 'three')
  })

  it('is read again in the next turn of the event loop if there is none', async () => {
    const { stored, asked, find } = open()
    stored.id = null
    assert.deepEqual(await Promise.all([find(ORIGIN), find(ORIGIN)]), [null, null])
    assert.equal(asked.length, 1)
    stored.id = 'one'
    await nextTurn()
    await nextTurn()
    assert.equal(await find(ORIGIN), 'one')
  })

  it('is read again if it could not be read', async () => {
    const { find, stored } = open()
    const failing = cacheReceivers(
      async (name) => {
        if (stored.id === 'one') throw new Error('away')
        return find(name)
      },
      () => false,
    )
    await assert.rejects(failing(ORIGIN), /away/)
    stored.id = 'two'
    assert.equal(await failing(ORIGIN), 'two')
  })
})
