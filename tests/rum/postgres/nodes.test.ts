import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { listJournalNodes } from '../../../lib/rum/postgres/entries.ts'
import { createPgRumReader } from '../../../lib/rum/postgres/reader.ts'
import { replayJournal, replayRemoved } from '../../../lib/rum/postgres/replay.ts'
import { removeCounted } from '../../../lib/rum/postgres/retention.ts'
import {
  countEntries,
  countStored,
  makeDraft,
  openNode,
  poolOfSuite,
  read,
  readSite,
  removeAll,
  send,
} from './telemetry.ts'

const drafts = Array.from({ length: 120 }, (_, n) => ({ ...makeDraft(n), siteId: 'a' }))

type Node = Awaited<ReturnType<typeof openNode>>

describe('several nodes', () => {
  const pool = poolOfSuite()

  const openNodes = () => Promise.all([openNode(pool), openNode(pool), openNode(pool)])
  const close = (...nodes: readonly Node[]) =>
    Promise.all(nodes.map(({ writer }) => writer[Symbol.asyncDispose]()))

  it('write the same as one', async () => {
    const one = await openNode(pool)
    await send(one.writer, drafts)
    const wanted = await readSite(one.writer, createPgRumReader(pool))
    await close(one)
    await removeAll(pool)
    const nodes = await openNodes()
    for (let at = 0; at < drafts.length; at += 12) {
      const shares = [drafts.slice(at, at + 4), drafts.slice(at + 4, at + 8)]
      shares.push(drafts.slice(at + 8, at + 12))
      await Promise.all(nodes.map(({ writer }, node) => send(writer, shares[node] ?? [])))
      await Promise.all(nodes.map(({ checkpoint }) => checkpoint()))
    }
    assert.deepEqual(await readSite(nodes[0].writer, createPgRumReader(pool)), wanted)
    await close(...nodes)
    assert.equal(await countEntries(pool), 0)
  })

  it('share the bounds for pages and kinds of errors', async () => {
    const nodes = [await openNode(pool), await openNode(pool)] as const
    const many = Array.from({ length: 1_600 }, (_, n) => ({
      ...makeDraft(n, { pages: 900, kinds: 500 }),
      ...{ siteId: 'a', receivedAt: drafts[0]?.receivedAt ?? 0 },
    }))
    for (let at = 0; at < many.length; at += 400) {
      await send(nodes[0].writer, many.slice(at, at + 200))
      await send(nodes[1].writer, many.slice(at + 200, at + 400))
      await Promise.all(nodes.map(({ checkpoint }) => checkpoint()))
    }
    await close(...nodes)
    const [row = []] = await read(
      pool,
      `SELECT (SELECT count(DISTINCT (day, path)) FROM rum_pages), (SELECT sum(samples) FROM rum_pages),
         (SELECT count(*) FROM rum_error_samples), (SELECT sum(count) FROM rum_errors)`,
    )
    const withPath = many.filter(({ beacon }) => beacon.path !== undefined).length
    const withError = many.filter(({ beacon }) => beacon.errors.length > 0).length
    assert.deepEqual(row, [501, withPath, 201, withError])
  })

  it('sum up what a killed node left, once, even if two do so at the same time', async () => {
    const killed = await openNode(pool)
    await send(killed.writer, drafts.slice(0, 50))
    await killed.checkpoint()
    await send(killed.writer, drafts.slice(50))
    assert.deepEqual(await listJournalNodes(pool), [killed.node])
    await Promise.all([replayJournal(pool, killed.node), replayJournal(pool, killed.node)])
    assert.deepEqual(await listJournalNodes(pool), [])
    await replayJournal(pool, killed.node)
    assert.equal(await countStored(pool), drafts.length)
  })

  it('notice that others have taken over, and count nothing twice', async () => {
    const stopped = await openNode(pool)
    await send(stopped.writer, drafts.slice(0, 50))
    await stopped.checkpoint()
    await send(stopped.writer, drafts.slice(50, 60))
    await replayJournal(pool, stopped.node)
    await send(stopped.writer, drafts.slice(60, 70))
    await Promise.all([stopped.checkpoint(), stopped.checkpoint()])
    assert.equal(stopped.takenOver(), 1)
    const [draft = makeDraft(0)] = drafts
    assert.equal(await stopped.writer.add(draft), 'failed')
    await close(stopped)
    assert.equal(await countStored(pool), 60)
    await replayJournal(pool, stopped.node)
    assert.equal(await countStored(pool), 70)
    assert.deepEqual(stopped.errors, [])
  })

  /** What the others do once a node has been dead for a day. */
  const remove = async ({ node }: Node) => {
    await replayJournal(pool, node)
    await read(pool, `DELETE FROM nodes WHERE id = '${node}'`)
    await removeCounted(pool, [])
  }

  it('count nothing twice after a pause so long that the others have removed the node', async () => {
    const paused = await openNode(pool)
    await send(paused.writer, drafts.slice(0, 50))
    await remove(paused)
    await send(paused.writer, drafts.slice(50, 60))
    await close(paused)
    assert.equal(await countStored(pool), 50)
    assert.equal(paused.takenOver(), 1)
    await replayRemoved(pool)
    assert.equal(await countStored(pool), 60)
    assert.deepEqual(paused.errors, [])
  })

  it('count nothing twice if one pauses for so long while it sums up what another left', async () => {
    const killed = await openNode(pool)
    await send(killed.writer, drafts)
    let isPaused = false
    const pausing: PgPool = {
      ...pool,
      use: async (work) => {
        const result = await pool.use(work)
        if (!isPaused) {
          isPaused = true
          await remove(killed)
        }
        return result
      },
    }
    await replayJournal(pausing, killed.node)
    assert.equal(await countStored(pool), drafts.length)
  })

  it('leave alone the journals of nodes that are not removed', async () => {
    const live = await openNode(pool)
    await send(live.writer, drafts.slice(0, 10))
    await replayRemoved(pool)
    await live.checkpoint()
    assert.equal(live.takenOver(), 0)
    await close(live)
    assert.equal(await countStored(pool), 10)
  })

  it('lose nothing in any order of beacons, checkpoints, deaths and returns', async () => {
    const AnyStep = fc.record({
      at: fc.nat(2),
      action: fc.oneof(
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('checkpoint' as const, 'kill' as const, 'replay' as const),
      ),
    })
    const run = async (steps: readonly Step[]) => {
      await removeAll(pool)
      const cluster = new Cluster(pool, await openNodes())
      for (const step of steps) await cluster.take(step)
      await close(...cluster.nodes)
      for (const node of await listJournalNodes(pool)) await replayJournal(pool, node)
      assert.equal(await countStored(pool), cluster.sent)
      assert.equal(await countEntries(pool), 0)
    }
    await fc.assert(fc.asyncProperty(fc.array(AnyStep, { maxLength: 20 }), run), { numRuns: 25 })
  })
})

/** A node sends beacons or writes its rows, or is killed; or others replay its journal, though it was only paused. */
interface Step {
  readonly at: number
  readonly action: number | 'checkpoint' | 'kill' | 'replay'
}

class Cluster {
  readonly #pool: PgPool
  readonly nodes: Node[]
  sent = 0

  constructor(pool: PgPool, nodes: Node[]) {
    this.#pool = pool
    this.nodes = nodes
  }

  async take({ at, action }: Step): Promise<void> {
    const node = this.nodes[at]
    if (node === undefined) return
    if (action === 'checkpoint') await node.checkpoint()
    else if (action === 'replay') await replayJournal(this.#pool, node.node)
    else if (action !== 'kill') {
      const some = drafts.slice(this.sent, this.sent + action)
      await send(node.writer, some)
      this.sent += some.length
    }
    if (action === 'kill' || node.takenOver() > 0) this.nodes[at] = await openNode(this.#pool)
  }
}
