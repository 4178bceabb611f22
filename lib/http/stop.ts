import type { Server } from 'node:http'
import type { NetworkThreads } from './threads/network-threads.ts'

/** Milliseconds that requests get to finish. Supervisors must wait longer. */
export const STOP_DEADLINE_MS = 10_000

/** Connections whose request has finished are closed this often. */
const SWEEP_INTERVAL_MS = 50

/**
 * Stops `server`: refuses new connections, closes idle ones and lets requests finish. After
 * `deadlineMs` it cuts the remaining connections: a silent client would keep the server alive.
 * `threads`: those that listen with it.
 */
export async function stopServer(
  server: Server,
  deadlineMs = STOP_DEADLINE_MS,
  threads?: Pick<NetworkThreads, 'stopListening' | 'whenClosed' | 'finish'>,
) {
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
  // Node.js keeps a connection open if its last request ends after `close`.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_INTERVAL_MS)
  const refused = threads?.stopListening()
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
  await refused
  await threads?.whenClosed()
  await threads?.finish()
  clearInterval(sweep)
  clearTimeout(deadline)
}
