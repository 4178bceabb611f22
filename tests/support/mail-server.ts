import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  /** From the envelope, as is `to`. */
  readonly from: string
  readonly to: readonly string[]
  /** Lines of the header, unfolded. */
  readonly headers: readonly string[]
  /** The whole message, decoded from quoted-printable. */
  readonly text: string
}

export interface MailServer extends AsyncDisposable {
  readonly url: string
  /** Resolves to the next message that `next` has not returned yet. */
  next(): Promise<ReceivedMail>
  /** Number of accepted messages that `next` has not returned yet. */
  left(): number
  /** Number of accepted messages. */
  received(): number
}

export interface MailServerOptions {
  /** Default: any free port. */
  readonly port?: number
  /** The answer to the next message; default: take it. */
  readonly answer?: () => MailAnswer | Promise<MailAnswer>
}

export type MailAnswer = 'take' | 'refuse' | 'hang'

/** A real SMTP server on loopback. */
export async function startMailServer({
  port: wanted = 0,
  answer = () => 'take' as const,
}: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const waiting: ((mail: ReceivedMail) => void)[] = []
  let taken = 0
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    closeTimeout: 100,
    onData: async (stream, { envelope }, done) => {
      // A client may disconnect in the middle of a message.
      const source = await text(stream).catch(() => null)
      if (source === null) return
      const outcome = await answer()
      if (outcome === 'hang') return
      if (outcome === 'refuse') {
        done(Object.assign(new Error(`not taken: ${source.slice(0, 300)}`), { responseCode: 451 }))
        return
      }
      const mail = {
        from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
        to: envelope.rcptTo.map(({ address }) => address),
        headers: readHeaders(source),
        text: decodeQuotedPrintable(source),
      }
      mails.push(mail)
      waiting.shift()?.(mail)
      done()
    },
  })
  // A client that is killed resets its connection.
  server.on('error', () => {})
  server.listen(wanted, '127.0.0.1')
  await once(server.server, 'listening')
  // safe: it listens on a port
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    next: () => {
      const mail = mails[taken++]
      return mail === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(mail)
    },
    left: () => mails.length - taken,
    received: () => mails.length,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function readHeaders(source: string): string[] {
  const [head = ''] = source.split('\r\n\r\n', 1)
  return head.replaceAll(/\r\n[ \t]/g, ' ').split('\r\n')
}

function decodeQuotedPrintable(message: string): string {
  if (!/^content-transfer-encoding: quoted-printable/im.test(message)) return message
  return message
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}
