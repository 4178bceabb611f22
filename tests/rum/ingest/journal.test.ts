import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Entry, Journal, type JournalOptions } from '../../../lib/rum/journal.ts'

const BEACON = { metrics: { lcp: 1 }, errors: [], dropped: 0 }
const draft = (...siteIds: string[]) => ({ siteIds, receivedAt: 7, country: 'GB', beacon: BEACON })

function open(options: Partial<JournalOptions> = {}) {
  const written: Entry[][] = []
  const committed: Entry[] = []
  const errors: unknown[] = []
  const journal = new Journal({
    firstId: 1,
    write: (entries) => {
      written.push([...entries])
    },
    committed: (entries) => {
      committed.push(...entries)
    },
    isLocked: (error) => error === 'locked',
    onError: (error) => {
      errors.push(error)
    },
    ...options,
  })
  return { journal, written, committed, errors }
}

describe('the journal', () => {
  it('commits the beacons of one turn together, then tells', async () => {
    const { journal, written, committed } = open()
    const told = Promise.all([journal.add(draft('a')), journal.add(draft('b', 'c'))])
    assert.equal(written.length, 0)
    assert.deepEqual(await told, ['stored', 'stored'])
    const [entries = []] = written
    assert.equal(written.length, 1)
    assert.deepEqual(committed, entries)
    const ids = entries.map(({ siteId, id }) => [siteId, id])
    assert.deepEqual(ids, [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
  })

  it('tells nobody before the commit', async () => {
    let told = false
    const { journal } = open({ write: () => assert.equal(told, false) })
    const accepted = journal.add(draft('a')).then((outcome) => {
      told = true
      return outcome
    })
    await nextTurn()
    assert.equal(await accepted, 'stored')
  })

  it('keeps nothing of a batch that cannot be written, and goes on with the next', async () => {
    let fails = true
    const { journal, committed, errors } = open({
      write: () => {
        if (fails) throw new Error('disk full')
      },
    })
    assert.deepEqual(await Promise.all([journal.add(draft('a')), journal.add(draft('a'))]), [
      'failed',
      'failed',
    ])
    assert.equal(errors.length, 1)
    assert.deepEqual(committed, [])
    fails = false
    assert.equal(await journal.add(draft('a')), 'stored')
    assert.deepEqual(
      committed.map(({ id }) => id),
      [3],
    )
  })

  it('waits for a lock, but not for ever', async () => {
    let locked = 3
    const { journal, committed, errors } = open({
      write: () => {
        locked -= 1
        if (locked >= 0) throw 'locked'
      },
    })
    assert.equal(await journal.add(draft('a')), 'stored')
    assert.equal(committed.length, 1)
    locked = Number.POSITIVE_INFINITY
    assert.equal(await journal.add(draft('a')), 'failed')
    assert.deepEqual(errors, ['locked'])
  })

  it('takes no more than its limit', async () => {
    const { journal } = open({ limit: 2 })
    const told = [1, 2, 3].map(() => journal.add(draft('a')))
    assert.deepEqual(await Promise.all(told), ['stored', 'stored', 'full'])
    assert.equal(await journal.add(draft('a')), 'stored')
  })

  it('commits all that waits when it is closed', async () => {
    const { journal, committed } = open()
    const told = Array.from({ length: 1_200 }, () => journal.add(draft('a')))
    journal.close()
    assert.equal(committed.length, 1_200)
    assert.deepEqual(new Set(await Promise.all(told)), new Set(['stored']))
    assert.equal(new Set(committed.map(({ id }) => id)).size, 1_200)
  })
})
