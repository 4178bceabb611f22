import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Entry, Journal, type JournalOptions } from '../../../lib/rum/ingest/journal.ts'

const BEACON = { metrics: { lcp: 1 }, errors: [], dropped: 0 }
const COMMIT_MS = 7
const draft = (siteId: string) => ({ siteId, receivedAt: 7, country: 'GB', beacon: BEACON })

function open(options: Partial<JournalOptions> = {}) {
  const written: Entry[][] = []
  const committed: Entry[] = []
  const errors: unknown[] = []
  const journal = new Journal({
    firstId: 1,
    write: (entries) => {
      written.push([...entries])
      return COMMIT_MS
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
  const add = (siteId: string) => journal.add(draft(siteId))
  return { journal, add, written, committed, errors }
}

describe('the journal', () => {
  it('commits the beacons of one turn together, then resolves them', async () => {
    const { add, written, committed } = open()
    const results = Promise.all(['a', 'b', 'a'].map(add))
    assert.equal(written.length, 0)
    assert.deepEqual(await results, ['stored', 'stored', 'stored'])
    const [entries = []] = written
    assert.equal(written.length, 1)
    assert.deepEqual(committed, entries)
    const ids = entries.map(({ siteId, id }) => [siteId, id])
    assert.deepEqual(ids, [
      ['a', 1],
      ['b', 2],
      ['a', 3],
    ])
  })

  it('resolves no beacon before the commit', async () => {
    let isResolved = false
    const write = () => {
      assert.equal(isResolved, false)
      return COMMIT_MS
    }
    const accepted = open({ write })
      .add('a')
      .then((outcome) => {
        isResolved = true
        return outcome
      })
    await nextTurn()
    assert.equal(await accepted, 'stored')
  })

  it('drops a batch that cannot be written, and continues with the next', async () => {
    let fails = true
    const write = () => {
      if (fails) throw new Error('disk full')
      return COMMIT_MS
    }
    const { add, committed, errors } = open({ write })
    assert.deepEqual(await Promise.all([add('a'), add('a')]), ['failed', 'failed'])
    assert.equal(errors.length, 1)
    assert.deepEqual(committed, [])
    fails = false
    assert.equal(await add('a'), 'stored')
    const ids = committed.map(({ id }) => id)
    assert.deepEqual(ids, [3])
  })

  it('retries while the database is locked, but not forever', async () => {
    let locked = 3
    const write = () => {
      locked -= 1
      if (locked >= 0) throw 'locked'
      return COMMIT_MS
    }
    const { add, committed, errors } = open({ write })
    assert.equal(await add('a'), 'stored')
    assert.equal(committed.length, 1)
    locked = Number.POSITIVE_INFINITY
    assert.equal(await add('a'), 'failed')
    assert.deepEqual(errors, ['locked'])
  })

  it('pauses after a commit as its pace says, unless a group is full', async () => {
    const NEVER_MS = 1_000_000
    const pauses = new Map([[COMMIT_MS, NEVER_MS]])
    const pauseAfter = (commitMs: number) => pauses.get(commitMs) ?? 0
    const { add, written } = open({ pace: { fullGroup: 3, pauseAfter } })
    assert.equal(await add('a'), 'stored')
    const waiting = [add('b'), add('c')]
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    assert.equal(written.length, 1)
    await Promise.all([...waiting, add('d')])
    const groups = written.map((entries) => entries.map(({ siteId }) => siteId))
    assert.deepEqual(groups, [['a'], ['b', 'c', 'd']])
  })

  it('commits all waiting beacons when it is closed', async () => {
    const { journal, add, committed } = open()
    const results = Array.from({ length: 1_200 }, () => add('a'))
    await journal.close()
    assert.equal(committed.length, 1_200)
    assert.deepEqual(new Set(await Promise.all(results)), new Set(['stored']))
    assert.equal(new Set(committed.map(({ id }) => id)).size, 1_200)
  })
})
