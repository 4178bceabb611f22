import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from '../db/connection.ts'
import { createEngine } from '../db/engine.ts'
import { type ReportError, serve } from './channel.ts'
import { type PackedUses, unpackUses } from './packed-uses.ts'
import { createTransactions } from './transactions.ts'
import { openWriter } from './writer.ts'

export type WriterMethods = ReturnType<typeof openMethods>

/** Opens the connection that writes, in a thread of its own. */
function openMethods(onError: ReportError) {
  const { file, replicated } = workerData
  const client = openConnection(file, replicated)
  const engine = createEngine(client)
  const options = { now: Date.now, onError }
  const { writeUses, rum } = openWriter({ $client: client, engine }, options)
  const { execute, runUnit } = engine
  return {
    execute,
    runUnit,
    ...createTransactions(engine),
    writeUses: (packed: PackedUses) => writeUses(unpackUses(packed)),
    add: rum.add,
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
