/**
 * Ends this process with code 1 as soon as its stdin ends. So it ends together with the process
 * that holds the other end of the pipe, even if that one is killed. Long computations must yield to
 * the event loop from time to time. Call `process.exit` when the work is done: reading keeps the
 * process alive.
 */
export function exitWhenStdinEnds(): void {
  const exit = () => process.exit(1)
  process.stdin.on('end', exit).on('error', exit).resume()
}
