import { appendFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

/* A mail server in its own process. It records Message-ID and subject before it accepts a message. */

const [file = ''] = process.argv.slice(2)

const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onData: async (stream, _session, done) => {
    // The client may be killed in the middle of a message.
    const source = await text(stream).catch(() => null)
    if (source === null) return
    const [id, subject] = ['Message-ID', 'Subject'].map(
      (name) => new RegExp(`^${name}: (.*)\r$`, 'm').exec(source)?.[1],
    )
    appendFileSync(file, `${id}\t${subject}\n`)
    done()
  },
})
// A client that is killed resets its connection.
server.on('error', () => {})
server.listen(0, '127.0.0.1', () => {
  // safe: a TCP server that listens has such an address
  const { port } = server.server.address() as AddressInfo
  process.stdout.write(`smtp://127.0.0.1:${port}\n`)
})
