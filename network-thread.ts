import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { serveNetwork } from './lib/http/threads/serve-network.ts'
import { type NodeData, openNode } from './lib/services/nodes/node.ts'
import type { News, Permit } from './lib/services/nodes/permits.ts'
import { createFastLookUps } from './routes/request/fast-look-ups.ts'

/** Accepts connections, and answers look-ups with known keys: see lib/http/network.ts. */
async function serve(port: MessagePort, data: NodeData): Promise<void> {
  const node = await openNode(data, (news: News) => port.postMessage({ news }))
  const lookUp = createFastLookUps(node.services)
  serveNetwork(port, {
    answer: (request) => node.answer(request, lookUp),
    onError: (error) => node.services.log.error({ err: error }, 'unexpected error'),
    // safe: start.ts sends only permits
    hear: (permits) => node.addPermits(permits as readonly Permit[]),
    finish: node.finish,
  })
}

if (parentPort !== null) await serve(parentPort, workerData)
