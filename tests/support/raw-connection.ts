import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A TCP connection on which the test writes every byte itself. */
export interface RawConnection {
  readonly socket: Socket
  /** Everything received so far. */
  received(): string
  /** Resolves with everything received once the server has closed or reset the connection. */
  readonly ended: Promise<string>
}

/** Connects to the server at `url` from an address of this machine, such as 127.0.0.2. */
export async function openConnection(url: string, from = '127.0.0.1'): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), localAddress: from })
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk) => {
    text += chunk
  })
  // A reset counts as an end.
  socket.on('error', () => {})
  socket.on('end', () => socket.destroy())
  const ended = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(text))
  })
  await Promise.race([once(socket, 'connect'), ended])
  return { socket, received: () => text, ended }
}

/** Sends the bytes and returns everything received until the server closes the connection. */
export async function exchange(url: string, bytes: string): Promise<string> {
  const { socket, ended } = await openConnection(url)
  socket.write(bytes, 'latin1')
  return ended
}

/** Status, headers and JSON of the first answer in `text`. */
export function parseAnswer(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  const [line = '', ...fields] = head.split('\r\n')
  const headers = new Headers(
    fields.map((field) => {
      const [name = '', ...value] = field.split(': ')
      return [name, value.join(': ')] as [string, string]
    }),
  )
  const isInChunks = headers.get('transfer-encoding') === 'chunked'
  return { status: Number(line.split(' ')[1]), headers, body: isInChunks ? joinChunks(body) : body }
}

/** Decodes a chunked body of JSON without line breaks: every other line is a chunk length. */
function joinChunks(body: string): string {
  const lines = body.split('\r\n')
  return lines.filter((_, index) => index % 2 === 1).join('')
}
