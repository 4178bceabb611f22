import { createTransport } from 'nodemailer'

/** A plain text message to one address. */
export interface Message {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Sends a message, or rejects where the mail server does not take it. */
export type SendMail = (message: Message) => Promise<void>

const TIMEOUT_MS = 10_000

/** Sends by SMTP (RFC 5321). `url` is such as smtps://user:password@mail.example:465. */
export function createSendMail({ url, from }: { url: string; from: string }): SendMail {
  const transport = createTransport(
    {
      url,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      dnsTimeout: TIMEOUT_MS,
      // A message is text of ours: it never names a file or an address to be fetched.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  )
  return async (message) => {
    await transport.sendMail(message)
  }
}
