import type { WriteUses } from '../../db/uses.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Layout } from '../citus/layout.ts'
import type { PgPool } from '../connection.ts'
import { openPgRumWriter } from '../rum/writer.ts'
import { createPgUses } from '../uses.ts'
import { joinNodes, type Node } from './nodes.ts'

export interface LifeOptions {
  readonly pool: PgPool
  readonly layout: Layout
  /** The version of the release. */
  readonly version: string
  readonly onError: (error: unknown, message: string) => void
  /** Aborts once the server stops. */
  readonly signal: AbortSignal
}

/** The time in which this process is a node with one id, and what writes under this id. */
interface Life extends AsyncDisposable {
  readonly node: Node
  readonly writeUses: WriteUses
  readonly rumWriter: Storage['rum']['writer']
}

/**
 * Makes this process a node. If the others declare it dead, such as while it is paused, they sum up its
 * journal, and it begins another life: it joins again under a new id.
 */
export async function openLives(options: LifeOptions) {
  const { onError, signal } = options
  let isEnding = false
  let beginning: Promise<void> | undefined
  const startAgain = (): Promise<void> => {
    beginning ??= replaceLife().finally(() => {
      beginning = undefined
    })
    return beginning
  }
  const onTakenOver = () => {
    startAgain().catch((error: unknown) => onError(error, 'cannot join the nodes again'))
  }
  /**
   * The revision of the keys in memory. A new life begins with it, so that changes of keys wait for this node
   * from the start.
   */
  let revision = -1
  let life = await beginLife(options, { onTakenOver, revision })
  const replaceLife = async () => {
    if (isEnding || signal.aborted) return
    const ended = life
    life = await beginLife(options, { onTakenOver, revision })
    await ended[Symbol.asyncDispose]()
  }
  return {
    node: (): Node => life.node,
    /** Lets the others know that all changes of keys up to the revision have taken effect here. */
    acknowledge: (newest: number): Promise<void> => {
      revision = newest
      return life.node.acknowledge(newest)
    },
    /** Reports that this node is alive, and begins another life if the others have declared it dead. */
    beat: async (): Promise<void> => {
      if (!(await life.node.flushes.beat())) await startAgain()
    },
    writeUses: ((uses) => life.writeUses(uses)) satisfies WriteUses,
    rumWriter: {
      add: (draft) => life.rumWriter.add(draft),
      countDropped: (...args) => life.rumWriter.countDropped(...args),
      readLive: (filter) => life.rumWriter.readLive(filter),
      checkpointSite: (siteId) => life.rumWriter.checkpointSite(siteId),
    } satisfies Storage['rum']['writer'],
    [Symbol.asyncDispose]: async () => {
      isEnding = true
      await beginning?.catch(() => {})
      await life[Symbol.asyncDispose]()
    },
  }
}

async function beginLife(
  { pool, layout, version, onError, signal }: LifeOptions,
  { onTakenOver, revision }: { readonly onTakenOver: () => void; readonly revision: number },
): Promise<Life> {
  await using opening = new AsyncDisposableStack()
  const node = opening.use(await joinNodes(pool, version, revision))
  const rumWriter = opening.use(
    openPgRumWriter(pool, { layout, node: node.id, onError, onTakenOver }),
  )
  const writeUses = createPgUses({ pool, layout, node: node.id, signal })
  const opened = opening.move()
  return { node, writeUses, rumWriter, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
