export interface QueueOptions {
  /** The number of tasks that run at the same time. */
  readonly atOnce: number
  /** The number of further tasks that may wait. */
  readonly mayWait: number
  /** How many of them one client may have; default: all. */
  readonly mayWaitEach?: number
  /** How many more tasks of known clients may wait; default: none. */
  readonly reserve?: number
}

/** The client that a task is for. */
export interface QueuedClient {
  readonly id: string | undefined
  readonly isKnown: boolean
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
}

export type Queue = ReturnType<typeof createQueue>

/** Runs tasks in order, at most `atOnce` at the same time. */
export function createQueue({ atOnce, mayWait, mayWaitEach = mayWait, reserve = 0 }: QueueOptions) {
  /** The functions that let the waiting tasks begin, in order, with the ids of their clients. */
  const waiting = new Map<(mayRun: boolean) => void, string | undefined>()
  let running = 0

  const isFull = (client: QueuedClient | undefined) => {
    if (waiting.size >= mayWait + (client?.isKnown === true ? reserve : 0)) return true
    if (client === undefined) return false
    return [...waiting.values()].filter((id) => id === client.id).length >= mayWaitEach
  }
  const begin = (client: QueuedClient | undefined): boolean | Promise<boolean> => {
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
    // The task that ends hands its place to the next one, so `running` stays the same.
    waiting.delete(next)
    next(true)
  }
  return {
    isIdle: () => running === 0,
    /**
     * Runs `work` once it is first in the queue. Returns null without running it if too many tasks are
     * waiting, or if the client has disconnected by then.
     */
    run: async <Result>(
      work: () => Promise<Result>,
      client?: QueuedClient,
    ): Promise<Result | null> => {
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
export function createQueues(options: QueueOptions) {
  const queues = new Map<string, Queue>()
  return {
    /** Calls `run` of the client's queue. */
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
