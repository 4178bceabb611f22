import { parentPort } from 'node:worker_threads'
import { serveNetwork } from '../../../lib/http/threads/serve-network.ts'

/* A network thread that answers requests for /here, and tells what it hears at its end. */

if (parentPort !== null) {
  const port = parentPort
  const heard: unknown[] = []
  serveNetwork(port, {
    answer: ({ url: json, headers }) =>
      json === '/here'
        ? { status: 200, headers: { 'x-way': 'thread' }, json: headers['x-a'] ?? json }
        : null,
    onError: (error) => {
      throw error
    },
    hear: (note) => heard.push(note),
    finish: () => port.postMessage({ news: heard }),
  })
}
