import type { ServerResponse } from 'node:http'

/** Calls `done` once the answer is sent or the connection is closed. */
export function whenAnswered(response: ServerResponse, done: () => void): void {
  let isOver = false
  const end = () => {
    if (!isOver) done()
    isOver = true
  }
  response.once('finish', end)
  response.once('close', end)
}
