import type { Server } from 'node:http'

/** Milliseconds that requests get to finish. Supervisors must wait longer. */
export const STOP_DEADLINE_MS = 10_000

/** Connections whose request has finished are closed this often. */
const SWEEP_INTERVAL_MS = 50

/**
 * Stops `server`: refuses new connections, closes idle ones and lets requests finish. After
 * `deadlineMs` it cuts the remaining connections: a silent client would keep the server alive.
 */
export async function stopServer(server: Server, deadlineMs = STOP_DEADLINE_MS) {
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
  // Node.js keeps a connection open if its last request ends after `close`.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_INTERVAL_MS)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
  clearInterval(sweep)
  clearTimeout(deadline)
}
