import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Writable } from 'node:stream'

/** A whole answer. `json` is null if it has no body. */
export interface WholeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly json: string | null
}

const NO_CONTENT = 204

/** Writes `answer` as HTTP/1.1. `connection` is the value of that header, such as `close`. */
export function writeAnswer(socket: Writable, answer: WholeAnswer, connection: string): void {
  const { status, headers, json } = answer
  const body = json ?? ''
  const length = Buffer.byteLength(body)
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`
  // RFC 9110, section 8.6
  if (status !== NO_CONTENT) head += `content-length: ${length}\r\n`
  head += `Date: ${dateText(Date.now())}\r\n`
  socket.write(`${head}Connection: ${connection}\r\n\r\n${body}`, encodingOf(body, length))
}

/** A text with one byte per character is ASCII, which latin1 writes faster. */
export function encodingOf(text: string, bytes: number): 'latin1' | 'utf8' {
  return bytes === text.length ? 'latin1' : 'utf8'
}

/** Whether the answer is sent or its connection is closed. */
export function isOver({ writableFinished, destroyed }: ServerResponse): boolean {
  return writableFinished || destroyed
}

/** Calls `done` once the answer is sent or the connection is closed. */
export function whenAnswered(response: ServerResponse, done: () => void): void {
  // node:http emits `close` once, after `finish` too; `once` would wrap the function.
  response.on('close', done)
}

const lastDate = { second: 0, text: '' }

/** Formatting a date takes longer than all other headers, so it is done once a second. */
function dateText(now: number): string {
  const second = Math.floor(now / 1_000)
  if (second !== lastDate.second) {
    lastDate.second = second
    lastDate.text = new Date(now).toUTCString()
  }
  return lastDate.text
}
