import { Worker } from 'node:worker_threads'
import { openKeyRing } from '../access/key-ring/key-ring.ts'
import type { Engine, Execute } from '../db/engine.ts'
import type { LocalDb } from '../db/open.ts'
import { createQueries } from '../db/queries.ts'
import { createMeterStore } from '../limits/meter-store.ts'
import { codeUrl } from '../parts/clone-or-package.ts'
import { reasonOf } from '../parts/reason.ts'
import type { Entry } from '../rum/ingest/journal.ts'
import { openJournal } from '../rum/writer.ts'
import { type Caller, connect, type Methods } from './channel.ts'
import { ONLY_PROCESS } from './only-process.ts'
import type { ReaderMethods } from './reader-thread.ts'
import type { SqliteStorage, StorageOptions } from './storage.ts'
import type { WriterMethods } from './writer-thread.ts'

type ThreadOptions = StorageOptions & { readonly onCrash: (error: unknown) => void }

/** Small: after each write in another thread, SQLite empties this cache, and the next request waits for that. */
const CACHE_KIB = 1024

/**
 * Moves all writes to one thread, and reads that take long to another. They start on their first use,
 * because the first start needs much memory to prepare the databases. This thread keeps `local`, for
 * reads of a few rows.
 */
export function moveToThreads(local: LocalDb, options: ThreadOptions): SqliteStorage {
  const { $client: client } = local
  client.pragma('query_only = ON')
  client.pragma(`cache_size = ${-CACHE_KIB}`)
  const writer = openLazily(() => startThread<WriterMethods>('writer', options))
  const reader = openLazily(() => startThread<ReaderMethods>('reader', options))
  const write: Call<WriterMethods> = (method, ...args) => writer.get().call(method, ...args)
  const read: Call<ReaderMethods> = (method, ...args) => reader.get().call(method, ...args)
  const engine = createRemoteEngine(write)
  const writeEntries = (entries: readonly Entry[]) => write('writeEntries', JSON.stringify(entries))
  const journal = openJournal(local, writeEntries, options.onError)
  const db = Object.assign(createQueries(engine.execute), { engine, $client: client })
  return {
    ...ONLY_PROCESS,
    db,
    shortReads: local,
    longReads: createQueries((query, only) => read('execute', query, only)),
    writeCounts: (counts) => write('writeCounts', counts),
    meterStore: createMeterStore(db),
    openKeys: async (plans, onError) => openKeyRing(db, plans, onError),
    rum: {
      writer: {
        add: (draft) => journal.add(draft),
        countDropped: (...args) => write('countDropped', ...args),
        readLive: (filter) => write('readLive', filter),
        checkpointSite: (siteId) => write('checkpointSite', siteId),
      },
      reader: {
        readSummary: async (filter, live) => read('readSummary', filter, live),
        readOverview: async (filter) => read('readOverview', filter),
      },
    },
    [Symbol.asyncDispose]: async () => {
      await using closing = new AsyncDisposableStack()
      closing.defer(() => {
        client.close()
      })
      closing.defer(() => writer.end((call) => call('close')))
      closing.defer(() => reader.end((call) => call('close')))
      closing.defer(() => journal.close())
    },
  }
}

type Call<M extends Methods<M>> = Caller<M>['call']

interface Thread<M extends Methods<M>> {
  readonly call: Call<M>
  /** Ends the thread once `closed` resolves. */
  readonly endAfter: (closed: Promise<void>) => Promise<void>
}

/** Starts a thread on its first use. Throws if it is used after its end. */
function openLazily<M extends Methods<M>>(start: () => Thread<M>) {
  let thread: Thread<M> | undefined
  let isEnded = false
  return {
    get: (): Thread<M> => {
      if (isEnded) throw new Error('the database is closed')
      thread ??= start()
      return thread
    },
    end: async (close: (call: Call<M>) => Promise<void>): Promise<void> => {
      isEnded = true
      if (thread !== undefined) await thread.endAfter(close(thread.call))
    },
  }
}

function startThread<M extends Methods<M>>(
  name: 'writer' | 'reader',
  { file, replicated, onError, onCrash }: ThreadOptions,
): Thread<M> {
  const url = codeUrl(`./${name}-thread`, import.meta.url)
  const worker = new Worker(url, { name, workerData: { file, replicated }, execArgv: [] })
  const { call, end } = connect<M>(worker, onError)
  const crashed = (code: number) => {
    end()
    onCrash(new Error(`the ${name} thread has ended with ${code}`))
  }
  worker.on('error', (error) => onCrash(withReason(error)))
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

/** A thread that cannot allocate memory may not be able to say so. */
function withReason(cause: unknown): unknown {
  if (reasonOf(cause) !== '') return cause
  return new Error('it gave no reason: perhaps it ran out of memory', { cause })
}

function createRemoteEngine(call: Call<WriterMethods>): Engine {
  const execute: Execute = (query, only) => call('execute', query, only)
  return {
    dialect: 'sqlite',
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
