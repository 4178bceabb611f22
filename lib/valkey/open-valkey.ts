import type { BucketStore } from '../limits/buckets/bucket-store.ts'
import { createValkeyBucketStore } from './bucket-store.ts'
import { explain, requireUsableServer, type ServerState } from './check-server.ts'
import { nameServer, openValkeyConnection, type ValkeyConnection } from './connection.ts'

export interface OpenValkeyOptions {
  readonly now: () => number
  readonly onError: (error: unknown, message: string) => void
}

/** A server through which nodes share rate limits. */
export interface Valkey extends AsyncDisposable {
  /** `countNodes` returns how many nodes are live, as last known. */
  openBuckets(countNodes: () => number): BucketStore
}

/**
 * Connects to the server that the configuration names, and checks it. Throws an error that names the server,
 * without the password, and says what to do.
 */
export async function openValkey(url: string, options: OpenValkeyOptions): Promise<Valkey> {
  const { connection } = await connectAndCheck(url)
  return {
    openBuckets: (countNodes) => createValkeyBucketStore({ connection, countNodes, ...options }),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  }
}

/** Connects to the server, and returns its state. Throws like `openValkey`. */
export async function inspectValkey(url: string): Promise<ServerState> {
  const { connection, state } = await connectAndCheck(url)
  await connection[Symbol.asyncDispose]()
  return state
}

async function connectAndCheck(
  url: string,
): Promise<{ readonly connection: ValkeyConnection; readonly state: ServerState }> {
  const connection = openValkeyConnection(url)
  try {
    return { connection, state: await requireUsableServer(connection) }
  } catch (cause) {
    await connection[Symbol.asyncDispose]()
    throw new Error(`Cannot use ${nameServer(url)}: ${explain(cause)}`, { cause })
  }
}
