import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { serveNetwork } from './lib/http/threads/serve-network.ts'
import { openThread, type ThreadData } from './lib/services/threads/network-thread.ts'
import type { News, Permit } from './lib/services/threads/permits.ts'
import { createFastLookUps } from './routes/request/fast-look-ups.ts'

/** Accepts connections, and answers look-ups with known keys: see lib/http/listening-server.ts. */
async function serve(port: MessagePort, data: ThreadData): Promise<void> {
  const send = (news: News) =>
    port.postMessage({ news }, news.lines?.map(({ buffer }) => buffer) ?? [])
  const thread = await openThread(data, send)
  const lookUp = createFastLookUps(thread.services)
  serveNetwork(port, {
    answer: (request) => thread.answer(request, lookUp),
    onError: (error) => thread.services.log.error({ err: error }, 'unexpected error'),
    // safe: start.ts sends only permits
    onReply: (permits) => thread.addPermits(permits as readonly Permit[]),
    finish: thread.finish,
  })
}

if (parentPort !== null) await serve(parentPort, workerData)
