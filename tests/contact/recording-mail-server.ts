import { appendFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

/* A mail server in a process of its own: before it takes a message, it notes its Message-ID and subject. */

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
server.listen(0, '127.0.0.1', () => {
  // safe: a TCP server that listens has such an address
  const { port } = server.server.address() as AddressInfo
  process.stdout.write(`smtp://127.0.0.1:${port}\n`)
})
