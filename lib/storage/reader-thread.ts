import { parentPort, workerData } from 'node:worker_threads'
import { openReadOnly } from '../db/connection.ts'
import { createEngine } from '../db/engine.ts'
import { createRumReader } from '../rum/reader.ts'
import { serve } from './channel.ts'

export type ReaderMethods = ReturnType<typeof openMethods>

/** Opens a connection for reads that take long, in a thread of its own. */
function openMethods() {
  const client = openReadOnly(workerData.file)
  return {
    execute: createEngine(client).execute,
    ...createRumReader({ $client: client }),
    close: async (): Promise<void> => {
      client.close()
    },
  }
}

if (parentPort !== null) serve(parentPort, openMethods)
