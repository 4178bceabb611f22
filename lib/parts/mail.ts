import { domainToASCII } from 'node:url'
import { createTransport, type Transporter } from 'nodemailer'

/** A plain text message to one address. Header fields are encoded, so a name cannot add a field. */
export interface Message {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly replyTo?: { readonly name: string; readonly address: string }
  /** With angle brackets; generated if absent. */
  readonly messageId?: string
  /** The current time if absent. */
  readonly date?: Date
  /** Whether no person wrote it, so that no program replies: `Auto-Submitted` of RFC 3834, section 5. */
  readonly isAutomatic?: boolean
  /** Where mail programs post to stop such mails; not mailed without https, which RFC 8058 demands (section 3.1). */
  readonly unsubscribe?: string
}

/** Sends a message. Rejects if the mail server refuses it, or once `signal` is aborted. */
export type SendMail = (message: Message, signal?: AbortSignal) => Promise<void>

interface MailOptions {
  /** Such as smtps://user:password@mail.example:465. */
  readonly url: string
  readonly from: string
}

const TIMEOUT_MS = 10_000

/**
 * Sends over one connection that stays open for a while, since servers greet slowly. If it breaks,
 * `send` rejects: no message is resent automatically.
 */
export function openMailConnection(options: MailOptions) {
  const pool = { pool: true, maxConnections: 1, maxRequeues: 0 } as const
  const from = toAsciiDomain(options.from)
  const transport = createTransport({ ...settings(options.url), ...pool }, { from })
  return {
    send: sendBy(transport),
    [Symbol.dispose]: () => transport.close(),
  }
}

/** Connects and signs in to the mail server, but sends nothing. Rejects if that fails. */
export async function verifyMail(url: string): Promise<void> {
  const transport = createTransport(settings(url))
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}

function settings(url: string) {
  return {
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    // Plain text messages need no files and no URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

function sendBy(transport: Pick<Transporter, 'sendMail'>): SendMail {
  return async ({ isAutomatic = false, unsubscribe = '', ...message }, signal) => {
    const to = toAsciiDomain(message.to)
    const headers = {
      ...(isAutomatic && { 'Auto-Submitted': 'auto-generated' }),
      ...(unsubscribe.startsWith('https:') && {
        'List-Unsubscribe': `<${unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    }
    await transport.sendMail({ ...message, to, headers, ...(signal !== undefined && { signal }) })
  }
}

/**
 * Writes the domain at the end of an address, or of a name with an address, in ASCII: a server without
 * SMTPUTF8 (RFC 6531) takes no other in an envelope.
 */
export function toAsciiDomain(text: string): string {
  return text.replace(/(?<=@)[^@<>\s]+(?=>?\s*$)/, (domain) => domainToASCII(domain) || domain)
}

/** Whether the server refused this message or its addresses, and would take others. */
export function isRefusal(error: unknown): boolean {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown } // safe: read as unknown
  // 421: the server is about to close the connection (RFC 5321, section 4.2.2).
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== 421
}

/** What the codes of nodemailer mean: https://nodemailer.com/errors. */
const MEANINGS: Readonly<Record<string, string>> = {
  EAUTH: 'refuses the user name or the password',
  EDNS: 'cannot be found: its name is unknown',
  ECONNECTION: 'does not take the connection',
  ESOCKET: 'does not take the connection',
  ETIMEDOUT: 'does not answer in time',
  ETLS: 'offers no encryption that we accept',
  EENVELOPE: 'refuses the sender or the recipient',
  EMESSAGE: 'refuses the message',
}

/**
 * Why a mail to the caller's own address was not accepted, in words, with the reply of the server. `host`: of the
 * mail server.
 */
export function explainMailError(error: unknown, host: string): string {
  const { code, response, message } = error as Record<string, unknown> // safe: read as unknown
  const meaning = MEANINGS[String(code)] ?? `fails with ${String(code ?? 'an unknown error')}`
  return `The mail server ${host} ${meaning}: ${String(response ?? message)}`
}

/** The reason for a failure, as codes. Omits the server's reply, which may quote the message. */
export function mailReasonOf(error: unknown): string {
  const { code = 'unknown', responseCode } = error as { code?: unknown; responseCode?: unknown } // safe: read as unknown
  return responseCode === undefined ? String(code) : `${code} ${responseCode}`
}
