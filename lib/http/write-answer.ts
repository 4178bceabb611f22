import { STATUS_CODES } from 'node:http'
import type { Writable } from 'node:stream'

/** A whole answer. `json` null: no body. */
export interface WholeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly json: string | null
}

/** Writes `answer` as HTTP/1.1, with what becomes of the connection: `close`, say. */
export function writeAnswer(socket: Writable, answer: WholeAnswer, connection: string): void {
  const { status, headers, json } = answer
  const body = json ?? ''
  const length = Buffer.byteLength(body)
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`
  head += `content-length: ${length}\r\nDate: ${dateText(Date.now())}\r\n`
  // A text as long as its bytes is ASCII: it needs no encoding.
  const encoding = length === body.length ? 'latin1' : 'utf8'
  socket.write(`${head}Connection: ${connection}\r\n\r\n${body}`, encoding)
}

const lastDate = { second: 0, text: '' }

/** To write a date takes longer than all other headers: it is the same for a second. */
function dateText(now: number): string {
  const second = Math.floor(now / 1_000)
  if (second !== lastDate.second) {
    lastDate.second = second
    lastDate.text = new Date(now).toUTCString()
  }
  return lastDate.text
}
