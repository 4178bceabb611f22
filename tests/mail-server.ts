import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  /** As the envelope says. */
  readonly from: string
  readonly to: readonly string[]
  /** The whole message, with lines that its encoding broke put together again. */
  readonly text: string
}

export interface MailServer extends AsyncDisposable {
  readonly url: string
  /** The next message that was not asked for yet, once it is there. */
  next(): Promise<ReceivedMail>
  /** How many have come. */
  received(): number
}

/** A real SMTP server on loopback, which takes everything. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const waiting: ((mail: ReceivedMail) => void)[] = []
  let taken = 0
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: async (stream, { envelope }, done) => {
      const mail = {
        from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
        to: envelope.rcptTo.map(({ address }) => address),
        text: decodeQuotedPrintable(await text(stream)),
      }
      mails.push(mail)
      waiting.shift()?.(mail)
      done()
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  // safe: a TCP server that listens has such an address
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    next: () => {
      const mail = mails[taken++]
      return mail === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(mail)
    },
    received: () => mails.length,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function decodeQuotedPrintable(message: string): string {
  if (!/^content-transfer-encoding: quoted-printable/im.test(message)) return message
  return message
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}
