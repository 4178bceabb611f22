import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MAX_IN_TURN, Turns } from '../../../lib/http/fast-path/turns.ts'

describe('Turns', () => {
  it('has room for some requests in each turn of the event loop', async () => {
    const turns = new Turns(() => 0)
    for (let turn = 0; turn < 3; turn++) {
      for (let n = 0; n < MAX_IN_TURN; n++) {
        assert.ok(turns.hasRoom())
        turns.begin()
        turns.count()
      }
      assert.ok(!turns.hasRoom())
      await nextTurn()
    }
  })

  it('has neither time nor room in the rest of a turn that has taken long', async () => {
    let now = 0
    const turns = new Turns(() => now)
    assert.ok(turns.hasTime())
    turns.begin()
    now += 1
    assert.ok(turns.hasTime() && turns.hasRoom())
    now += 1
    assert.ok(!turns.hasTime() && !turns.hasRoom())
    await nextTurn()
    assert.ok(turns.hasTime() && turns.hasRoom())
  })

  it('lets connections whose clients wait go first, after one other', async () => {
    const turns = new Turns(() => 0)
    const order: string[] = []
    const { promise: isOver, resolve } = Promise.withResolvers<void>()
    turns.wait(() => order.push('other'))
    turns.wait(() => {
      order.push('another')
      resolve()
    })
    turns.waitFirst(() => order.push('first'))
    await isOver
    assert.deepEqual(order, ['other', 'first', 'another'])
  })

  it('lets each connection go on, however many go first', async () => {
    const turns = new Turns(() => 0)
    const { promise: isOver, resolve } = Promise.withResolvers<void>()
    let isDone = false
    const goFirst = () => {
      for (let n = 0; n < MAX_IN_TURN; n++) turns.count()
      if (!isDone) turns.waitFirst(() => goFirst())
    }
    turns.waitFirst(goFirst)
    turns.wait(() => {
      isDone = true
      resolve()
    })
    await isOver
  })

  it('lets connections continue one after the other, each time while there is room', async () => {
    const turns = new Turns(() => 0)
    const { promise: isOver, resolve } = Promise.withResolvers<void>()
    let order = ''
    const connect = (name: string) => {
      const feed = () => {
        assert.ok(turns.hasRoom())
        turns.begin()
        for (let n = 0; n < MAX_IN_TURN / 2; n++) turns.count()
        order += name
        if (order.length < 9) turns.wait(feed)
        else resolve()
      }
      turns.wait(feed)
    }
    for (const name of ['a', 'b', 'c']) connect(name)
    await isOver
    assert.equal(order.slice(0, 9), 'abcabcabc')
  })
})
