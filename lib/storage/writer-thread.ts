import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from '../db/connection.ts'
import { createEngine } from '../db/engine.ts'
import { openEntryWriter } from '../rum/writer.ts'
import { type ReportError, serve } from './channel.ts'
import { openCountsWriter } from './counts-writer.ts'
import { createTransactions } from './transactions.ts'

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
