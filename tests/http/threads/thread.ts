import { parentPort } from 'node:worker_threads'
import { serveNetwork } from '../../../lib/http/threads/serve-network.ts'

/* A network thread that answers requests for /here, and reports at its end the replies that it got. */

if (parentPort !== null) {
  const port = parentPort
  const received: unknown[] = []
  serveNetwork(port, {
    answer: ({ url: json, headers }) =>
      json === '/here'
        ? { status: 200, headers: { 'x-way': 'thread' }, json: headers['x-a'] ?? json }
        : null,
    onError: (error) => {
      throw error
    },
    onReply: (reply) => received.push(reply),
    finish: () => port.postMessage({ news: received }),
  })
}
