import type { WriteCounts } from '../../db/ledger/pending-counts.ts'
import { createPgCounts } from '../../db/ledger/pg-pending-counts.ts'
import type { PgPool } from '../../postgres/connection.ts'
import { joinNodes, type Node } from '../../postgres/nodes/nodes.ts'
import { openPgRumWriter } from '../../rum/postgres/writer.ts'
import type { Storage } from '../storage.ts'

export interface MembershipOptions {
  readonly pool: PgPool
  /** The version of the release. */
  readonly version: string
  readonly onError: (error: unknown, message: string) => void
}

/** This process as a node with one id, and what writes under this id. */
interface Member extends AsyncDisposable {
  readonly node: Node
  readonly writeCounts: WriteCounts
  readonly rumWriter: Storage['rum']['writer']
}

/**
 * Makes this process a node. If the others mark it dead, for example while it is paused, they sum up its
 * journal, and it joins again under a new id.
 */
export async function openMembership(options: MembershipOptions) {
  const { onError } = options
  let isClosing = false
  let rejoining: Promise<void> | undefined
  const rejoin = (): Promise<void> => {
    rejoining ??= replaceMember().finally(() => {
      rejoining = undefined
    })
    return rejoining
  }
  const onTakenOver = () => {
    rejoin().catch((error: unknown) => onError(error, 'cannot join the nodes again'))
  }
  /**
   * The revision of the keys in memory. This process rejoins with it, so that changes of keys wait for the new
   * node from the start.
   */
  let revision = -1
  let member = await join(options, { onTakenOver, revision })
  const replaceMember = async () => {
    if (isClosing) return
    const dead = member
    member = await join(options, { onTakenOver, revision })
    await dead[Symbol.asyncDispose]()
  }
  return {
    node: (): Node => member.node,
    /** Lets the others know that all changes of keys up to the revision have taken effect here. */
    acknowledge: (newest: number): Promise<void> => {
      revision = newest
      return member.node.acknowledge(newest)
    },
    /** Sends a heartbeat, or rejoins if the others have marked this node dead. */
    sendHeartbeat: async (): Promise<void> => {
      if ((await member.node.flushes.sendHeartbeat()) === 'marked dead') await rejoin()
    },
    writeCounts: ((...args) => member.writeCounts(...args)) satisfies WriteCounts,
    rumWriter: {
      add: (draft) => member.rumWriter.add(draft),
      countDropped: (...args) => member.rumWriter.countDropped(...args),
      readLive: (filter) => member.rumWriter.readLive(filter),
      checkpointSite: (siteId) => member.rumWriter.checkpointSite(siteId),
    } satisfies Storage['rum']['writer'],
    [Symbol.asyncDispose]: async () => {
      isClosing = true
      await rejoining?.catch(() => {})
      await member[Symbol.asyncDispose]()
    },
  }
}

async function join(
  { pool, version, onError }: MembershipOptions,
  { onTakenOver, revision }: { readonly onTakenOver: () => void; readonly revision: number },
): Promise<Member> {
  await using opening = new AsyncDisposableStack()
  const node = opening.use(await joinNodes(pool, version, revision))
  const rumWriter = opening.use(openPgRumWriter(pool, { node: node.id, onError, onTakenOver }))
  const writeCounts = createPgCounts({ pool, node: node.id, onError })
  const opened = opening.move()
  return { node, writeCounts, rumWriter, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
