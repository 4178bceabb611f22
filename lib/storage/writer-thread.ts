import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from '../db/connection.ts'
import { createEngine, type Engine, type Execute } from '../db/engine.ts'
import type { Outcome, Query } from '../parts/sql.ts'
import { openEntryWriter } from '../rum/writer.ts'
import { type ReportError, serve } from './channel.ts'
import { openCountsWriter } from './counts-writer.ts'

export type WriterMethods = ReturnType<typeof openMethods>

/** Opens the connection that writes, in a thread of its own. */
function openMethods(onError: ReportError) {
  const { file, replicated } = workerData
  const client = openConnection(file, replicated)
  const engine = createEngine(client)
  const db = { $client: client, engine }
  const writeCounts = openCountsWriter(db)
  const rum = openEntryWriter(db, { now: Date.now, onError })
  const { execute, runUnit } = engine
  return {
    execute,
    runUnit,
    ...createTransactions(engine),
    writeCounts,
    /** Text is copied to another thread much faster than an object for each entry. */
    writeEntries: (json: string) => rum.writeEntries(JSON.parse(json)),
    countDropped: rum.countDropped,
    readLive: rum.readLive,
    checkpointSite: rum.checkpointSite,
    close: async (): Promise<void> => {
      await rum[Symbol.asyncDispose]()
      client.close()
    },
  }
}

if (parentPort !== null) serve(parentPort, openMethods)

interface Open {
  readonly execute: Execute
  readonly decision: PromiseWithResolvers<void>
  /** Settles when the transaction has ended. */
  readonly ended: Promise<void>
}

/** Transactions of another thread. `begin` returns a number by which that thread refers to each. */
function createTransactions(engine: Engine) {
  const open = new Map<number, Open>()
  let lastId = 0
  const find = (id: number): Open => {
    const transaction = open.get(id)
    if (transaction === undefined) throw new Error(`no open transaction has the number ${id}`)
    return transaction
  }
  const take = (id: number): Open => {
    const transaction = find(id)
    open.delete(id)
    return transaction
  }
  return {
    begin: (): Promise<number> =>
      new Promise((resolve, reject) => {
        const decision = Promise.withResolvers<void>()
        const ended = engine.transact((execute) => {
          lastId += 1
          open.set(lastId, { execute, decision, ended })
          resolve(lastId)
          return decision.promise
        })
        ended.catch(reject)
      }),
    executeIn: async (id: number, query: Query, only?: 'first row'): Promise<Outcome> =>
      find(id).execute(query, only),
    commit: async (id: number): Promise<void> => {
      const { decision, ended } = take(id)
      decision.resolve()
      await ended
    },
    rollBack: async (id: number): Promise<void> => {
      const { decision, ended } = take(id)
      decision.reject(new Error('rolled back'))
      await ended.catch(() => {})
    },
  }
}
