import { Worker } from 'node:worker_threads'
import type { Client } from '../db/client.ts'
import type { Engine, Execute } from '../db/engine.ts'
import { createQueries } from '../db/queries.ts'
import { connect } from './channel.ts'
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
  const writer = startThread('writer', options)
  const write = connect<WriterMethods>(writer.worker, options.onError)
  const engine = createRemoteEngine(write)
  let reader: ReturnType<typeof openReader> | undefined
  const read = () => {
    reader ??= openReader(options)
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
        readSummary: (filter, live) => read()('readSummary', filter, live),
        readOverview: (filter) => read()('readOverview', filter),
      },
    },
    [Symbol.asyncDispose]: async () => {
      await reader?.thread.end(() => read()('close'))
      await writer.end(() => write('close'))
      client.close()
    },
  }
}

function openReader(options: ThreadOptions) {
  const thread = startThread('reader', options)
  return { thread, call: connect<ReaderMethods>(thread.worker, options.onError) }
}

function startThread(name: 'writer' | 'reader', { file, replicated, onCrash }: ThreadOptions) {
  const url = new URL(`./${name}-thread.ts`, import.meta.url)
  const worker = new Worker(url, { name, workerData: { file, replicated }, execArgv: [] })
  const crashed = (code: number) => onCrash(new Error(`the ${name} thread has ended with ${code}`))
  worker.on('error', onCrash)
  worker.on('exit', crashed)
  return {
    worker,
    /** Ends the thread once `close` resolves. */
    end: async (close: () => Promise<void>): Promise<void> => {
      await close()
      worker.off('exit', crashed)
      await worker.terminate()
    },
  }
}

function createRemoteEngine(call: ReturnType<typeof connect<WriterMethods>>): Engine {
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
