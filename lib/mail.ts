import { createTransport } from 'nodemailer'

/** A plain text message to one address. Header fields are encoded: nobody can add one by a name. */
export interface Message {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly replyTo?: { readonly name: string; readonly address: string }
  /** Made up unless told; with angle brackets. */
  readonly messageId?: string
  /** Now, unless told. */
  readonly date?: Date
}

/**
 * Sends a message, or rejects where the mail server does not take it; breaks off once `signal` is
 * aborted.
 */
export type SendMail = (message: Message, signal?: AbortSignal) => Promise<void>

export interface MailOptions {
  /** Such as smtps://user:password@mail.example:465. */
  readonly url: string
  readonly from: string
}

const TIMEOUT_MS = 10_000

/** Sends by SMTP (RFC 5321), over a connection for each message. */
export function createSendMail(options: MailOptions): SendMail {
  const transport = createTransport(settings(options), { from: options.from })
  return async (message, signal) => {
    await transport.sendMail(withSignal(message, signal))
  }
}

/** Sends over one connection that is kept for a while, since servers greet slowly. */
export interface MailConnection extends Disposable {
  readonly send: SendMail
}

/** A message whose connection breaks is rejected, never sent again unasked. */
export function openMailConnection(options: MailOptions): MailConnection {
  const pool = { pool: true, maxConnections: 1, maxRequeues: 0 } as const
  const transport = createTransport({ ...settings(options), ...pool }, { from: options.from })
  return {
    send: async (message, signal) => {
      await transport.sendMail(withSignal(message, signal))
    },
    [Symbol.dispose]: () => transport.close(),
  }
}

/** Connects and signs in to the mail server, and sends nothing. Rejects where that fails. */
export async function verifyMail(url: string): Promise<void> {
  const transport = createTransport(settings({ url }))
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}

function settings({ url }: Pick<MailOptions, 'url'>) {
  return {
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    // A message is text of ours: it never names a file or an address to be fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

function withSignal(message: Message, signal: AbortSignal | undefined) {
  return signal === undefined ? message : { ...message, signal }
}

/** What went wrong, without what the server said: that may quote the message. */
export function mailTrouble(error: unknown): string {
  const { code = 'unknown', responseCode } = error as { code?: unknown; responseCode?: unknown } // safe: read as unknown
  return responseCode === undefined ? String(code) : `${code} ${responseCode}`
}
