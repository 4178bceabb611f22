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

/**
 * Stops `server`: it accepts nobody any more, idle connections are closed, and requests finish
 * until the deadline. Then what is still open is cut: a silent client would hold us for ever.
 */
export async function stopServer(server: StoppableServer, { deadlineMs }: StopOptions) {
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
  clearTimeout(deadline)
}
