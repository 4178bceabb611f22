/** Milliseconds that requests get to finish; supervisors must wait for longer. */
export const STOP_DEADLINE_MS = 10_000

/** The part of an HTTP server that stopping needs; that of node:http has it. */
export interface StoppableServer {
  close(done: (error?: Error) => void): unknown
  closeIdleConnections(): void
  closeAllConnections(): void
}

export interface StopOptions {
  /** Milliseconds that requests get to finish. */
  readonly deadlineMs: number
}

/** How often connections are closed whose request has finished meanwhile. */
const SWEEP_INTERVAL_MS = 50

/**
 * Stops `server`: it accepts nobody any more, idle connections are closed, and requests finish
 * until the deadline. Then what is still open is cut: a silent client would hold us for ever.
 */
export async function stopServer(server: StoppableServer, { deadlineMs }: StopOptions) {
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
  // Node.js keeps a connection alive whose last request ends after `close`.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_INTERVAL_MS)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
  clearInterval(sweep)
  clearTimeout(deadline)
}
