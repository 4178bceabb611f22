import { Worker } from 'node:worker_threads'
import type { Client } from '../db/client.ts'
import type { Engine, Execute } from '../db/engine.ts'
import { createQueries } from '../db/queries.ts'
import { type Caller, connect } from './channel.ts'
import type { ReaderMethods } from './reader-thread.ts'
import type { Storage, StorageOptions } from './storage.ts'
import type { WriterMethods } from './writer-thread.ts'

type ThreadOptions = StorageOptions & { readonly onCrash: (error: unknown) => void }

/**
 * Starts a thread that writes; one that reads starts on its first use. This thread keeps `client`, for
 * reading a few rows at once.
 */
export function startThreads(client: Client, options: ThreadOptions): Storage {
  client.pragma('query_only = ON')
  const writer = startThread<WriterMethods>('writer', options)
  const { call: write } = writer
  const engine = createRemoteEngine(write)
  let reader: Thread<ReaderMethods> | undefined
  let isClosed = false
  const read = () => {
    if (isClosed) throw new Error('the database is closed')
    reader ??= startThread<ReaderMethods>('reader', options)
    return reader.call
  }
  return {
    db: Object.assign(createQueries(engine.execute), { engine, $client: client }),
    longReads: createQueries((query, only) => read()('execute', query, only)),
    writeUses: (uses) => write('writeUses', uses),
    rum: {
      writer: {
        add: (draft) => write('add', draft),
        countDropped: (...args) => write('countDropped', ...args),
        readLive: (filter) => write('readLive', filter),
        checkpointSite: (siteId) => write('checkpointSite', siteId),
      },
      reader: {
        readSummary: async (filter, live) => read()('readSummary', filter, live),
        readOverview: async (filter) => read()('readOverview', filter),
      },
    },
    [Symbol.asyncDispose]: async () => {
      isClosed = true
      await using closing = new AsyncDisposableStack()
      closing.defer(() => {
        client.close()
      })
      closing.defer(() => writer.endAfter(write('close')))
      if (reader !== undefined) {
        const { call, endAfter } = reader
        closing.defer(() => endAfter(call('close')))
      }
    },
  }
}

interface Thread<M extends Record<keyof M, (...args: never[]) => Promise<unknown>>>
  extends Pick<Caller<M>, 'call'> {
  /** Ends the thread once it has closed. */
  readonly endAfter: (closed: Promise<void>) => Promise<void>
}

function startThread<M extends Record<keyof M, (...args: never[]) => Promise<unknown>>>(
  name: 'writer' | 'reader',
  { file, replicated, onError, onCrash }: ThreadOptions,
): Thread<M> {
  const url = new URL(`./${name}-thread.ts`, import.meta.url)
  const worker = new Worker(url, { name, workerData: { file, replicated }, execArgv: [] })
  const { call, end } = connect<M>(worker, onError)
  const crashed = (code: number) => onCrash(new Error(`the ${name} thread has ended with ${code}`))
  worker.on('error', onCrash)
  worker.on('exit', crashed)
  return {
    call,
    endAfter: async (closed) => {
      try {
        await closed
      } finally {
        worker.off('exit', crashed)
        await worker.terminate()
        end()
      }
    },
  }
}

function createRemoteEngine(call: Caller<WriterMethods>['call']): Engine {
  const execute: Execute = (query, only) => call('execute', query, only)
  return {
    execute,
    runUnit: (queries) => call('runUnit', queries),
    transact: async (work) => {
      const id = await call('begin')
      try {
        const result = await work((query, only) => call('executeIn', id, query, only))
        await call('commit', id)
        return result
      } catch (error) {
        // After an error of the commit there is nothing to roll back.
        await call('rollBack', id).catch(() => {})
        throw error
      }
    },
  }
}
