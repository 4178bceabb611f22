import { BoundedCache } from '../bounded-cache.ts'

export interface TurnsOptions {
  /** Work that runs at the same time. */
  readonly atOnce: number
  /** Further work that may wait for its turn. */
  readonly mayWait: number
  /** How much of it may be for one client; default: all. */
  readonly mayWaitEach?: number
  /** Further places to wait for clients that are known; default: none. */
  readonly reserve?: number
}

/** For whom work is done. */
export interface Waiter {
  readonly id: string | undefined
  readonly isKnown: boolean
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
}

export type Queue = ReturnType<typeof createQueue>

/** Runs work in order, as soon as fewer than `atOnce` others run. */
export function createQueue({ atOnce, mayWait, mayWaitEach = mayWait, reserve = 0 }: TurnsOptions) {
  /** What waits, in order, with the ids of the clients. */
  const waiting = new Map<(mayRun: boolean) => void, string | undefined>()
  let running = 0

  const isFull = (client: Waiter | undefined) => {
    if (waiting.size >= mayWait + (client?.isKnown === true ? reserve : 0)) return true
    if (client === undefined) return false
    return [...waiting.values()].filter((id) => id === client.id).length >= mayWaitEach
  }
  const begin = (client: Waiter | undefined): boolean | Promise<boolean> => {
    if (client?.signal.aborted === true) return false
    if (running < atOnce) {
      running += 1
      return true
    }
    if (isFull(client)) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    waiting.set(resolve, client?.id)
    const leave = () => {
      waiting.delete(resolve)
      resolve(false)
    }
    client?.signal.addEventListener('abort', leave, { once: true })
    return promise
  }
  const end = () => {
    const [next] = waiting.keys()
    if (next === undefined) {
      running -= 1
      return
    }
    // The work that ends hands its place to the next, so `running` stays the same.
    waiting.delete(next)
    next(true)
  }
  return {
    isIdle: () => running === 0,
    /**
     * Runs `work` when it is its turn. Returns null without running it if too much other work is
     * waiting, or if the client has left by then.
     */
    run: async <Result>(work: () => Promise<Result>, client?: Waiter): Promise<Result | null> => {
      if (!(await begin(client))) return null
      try {
        return await work()
      } finally {
        end()
      }
    },
  }
}

/** A queue for each client. */
export function createQueues(options: TurnsOptions) {
  const queues = new Map<string, Queue>()
  return {
    /** Like `run` of the client's queue. */
    run: async <Result>(client: string, work: () => Promise<Result>): Promise<Result | null> => {
      const queue = queues.get(client) ?? createQueue(options)
      queues.set(client, queue)
      try {
        return await queue.run(work)
      } finally {
        if (queue.isIdle()) queues.delete(client)
      }
    },
  }
}

/** Credentials that are remembered as known; with more, the oldest are forgotten. */
const REMEMBERED = 100_000

/**
 * Lets each client look up only a few unknown credentials at the same time, so that a flood of bad
 * ones cannot flood the database or the auth service. A credential that was good lately never waits.
 */
export function createTurns(options: TurnsOptions) {
  const queues = createQueues(options)
  const known = new BoundedCache<string, true>(REMEMBERED)
  return {
    /**
     * Runs `lookUp`, which throws if the credential is bad, when it is the client's turn. Returns null
     * without running it if too many wait already.
     */
    run: async <Found extends object>(
      client: string,
      credential: string,
      lookUp: () => Promise<Found>,
    ): Promise<Found | null> => {
      if (known.get(credential) === true) return lookUp()
      const found = await queues.run(client, lookUp)
      if (found !== null) known.set(credential, true)
      return found
    },
  }
}
