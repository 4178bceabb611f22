import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Outcome } from '../../../lib/parts/sql.ts'
import { replayJournal } from '../../../lib/rum/postgres/replay.ts'
import { NOON } from '../../support/helpers.ts'
import {
  countEntries,
  countStored,
  interceptPool,
  makeDraft,
  openNode,
  poolOfSuite,
  read,
  send,
} from './telemetry.ts'

const drafts = Array.from({ length: 60 }, (_, n) => ({ ...makeDraft(n), siteId: 'a' }))
const STORE = /^INSERT INTO rum_journal/
const REMOVE = /^DELETE FROM rum_journal/
const COMMIT = /^COMMIT/
const LOST = new Error('the connection is lost')

describe('telemetry on PostgreSQL', () => {
  const pool = poolOfSuite()

  /** Opens a node for which statements can be made to fail, before or after they run. */
  const openFaulty = async () => {
    const fault = { before: /$^/, after: /$^/ }
    const faulty = interceptPool(pool, async (text, run): Promise<Outcome> => {
      if (fault.before.test(text)) throw LOST
      const outcome = await run()
      if (fault.after.test(text)) throw LOST
      return outcome
    })
    const never = /$^/
    const mend = () => Object.assign(fault, { before: never, after: never })
    return { ...(await openNode(faulty)), faulty, fault, mend }
  }

  for (const when of ['before', 'after'] as const) {
    it(`counts each beacon once if the connection is lost ${when} the commit of a checkpoint`, async () => {
      const { writer, checkpoint, fault, mend } = await openFaulty()
      await send(writer, drafts.slice(0, 20))
      await writer.countDropped('a', 'bot', NOON)
      fault[when] = COMMIT
      await assert.rejects(checkpoint(), LOST)
      await send(writer, drafts.slice(20, 40))
      await assert.rejects(checkpoint(), LOST)
      mend()
      await send(writer, drafts.slice(40))
      await checkpoint()
      assert.equal(await countStored(pool), 60)
      await writer[Symbol.asyncDispose]()
      assert.equal(await countStored(pool), 60)
      assert.equal(await countEntries(pool), 0)
      const bots = await read(pool, `SELECT count FROM rum_counts WHERE label = 'bot'`)
      assert.deepEqual(bots, [[1]])
    })

    it(`counts refused beacons once if the connection is lost ${when} the commit`, async () => {
      const { writer, checkpoint, fault, mend } = await openFaulty()
      await writer.countDropped('a', 'bot', NOON)
      fault[when] = COMMIT
      await assert.rejects(checkpoint(), LOST)
      await writer.countDropped('a', 'bot', NOON)
      mend()
      await writer[Symbol.asyncDispose]()
      assert.deepEqual(await read(pool, 'SELECT label, count FROM rum_counts'), [['bot', 2]])
    })

    it(`reports beacons as not stored if the connection is lost ${when} their commit`, async () => {
      const { writer, errors, fault, mend, node } = await openFaulty()
      fault[when] = STORE
      const [first = makeDraft(0), ...rest] = drafts
      assert.equal(await writer.add(first), 'failed')
      assert.deepEqual(errors, ['cannot store beacons'])
      mend()
      await send(writer, rest)
      await replayJournal(pool, node)
      // Whether it was stored is unknown: then it may count nevertheless.
      assert.equal(await countStored(pool), when === 'before' ? 59 : 60)
    })

    it(`removes entries later if the connection is lost ${when} their removal`, async () => {
      const { writer, errors, fault, mend } = await openFaulty()
      await send(writer, drafts.slice(0, 20))
      fault[when] = REMOVE
      await writer[Symbol.asyncDispose]()
      assert.deepEqual(errors, ['cannot sum up telemetry; it stays in the journal'])
      mend()
      assert.equal(await countEntries(pool), when === 'before' ? 20 : 0)
      assert.equal(await countStored(pool), 20)
      await writer[Symbol.asyncDispose]()
      assert.equal(await countEntries(pool), 0)
      assert.equal(await countStored(pool), 20)
    })

    it(`counts each beacon once if a replay loses the connection ${when} its commit`, async () => {
      const { writer, node, faulty, fault, mend } = await openFaulty()
      await send(writer, drafts)
      fault[when] = COMMIT
      await assert.rejects(replayJournal(faulty, node), LOST)
      mend()
      await replayJournal(faulty, node)
      assert.equal(await countStored(pool), 60)
    })
  }

  it('counts beacons that arrive while a checkpoint is under way', async () => {
    const { writer, checkpoint } = await openNode(pool)
    const sent: Promise<void>[] = []
    for (let at = 0; at < drafts.length; at += 3) {
      sent.push(send(writer, drafts.slice(at, at + 3)))
      await Promise.all([
        checkpoint(),
        checkpoint(),
        send(writer, [{ ...makeDraft(at), siteId: 'a' }]),
      ])
    }
    await Promise.all(sent)
    await checkpoint()
    assert.equal(await countStored(pool), 80)
    await writer[Symbol.asyncDispose]()
    assert.equal(await countEntries(pool), 0)
  })

  it('leaves the beacons of a checkpoint that fails in the journal', async () => {
    const { writer, errors, fault, node } = await openFaulty()
    await send(writer, drafts)
    fault.before = /INTO rum_counted/
    await writer[Symbol.asyncDispose]()
    assert.deepEqual(errors, ['cannot sum up telemetry; it stays in the journal'])
    assert.equal(await countStored(pool), 0)
    await replayJournal(pool, node)
    assert.equal(await countStored(pool), 60)
  })

  it('writes all other sites if the rows of one cannot be read', async () => {
    const { writer, errors } = await openNode(pool)
    await send(writer, drafts)
    await writer.checkpointSite('a')
    const damage = `UPDATE rum_days SET sketches = '\\xff'`
    await pool.use((connection) => connection.query(damage))
    const later = drafts.map((draft) => ({ ...draft, siteId: 'b' }))
    await send(writer, [...drafts, ...later])
    for (let attempts = 0; attempts < 3; attempts++) await writer[Symbol.asyncDispose]()
    assert.equal(errors.length, 3)
    // Those of `b` share their commit with those of `a`.
    assert.equal(await countEntries(pool), 120)
    const samples = await read(pool, `SELECT sum(samples) FROM rum_days WHERE site_id = 'b'`)
    const ofHours = await read(pool, `SELECT sum(samples) FROM rum_hours WHERE site_id = 'b'`)
    assert.deepEqual(samples, ofHours)
  })
})
