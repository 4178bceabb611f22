import { type Message, mailReasonOf, type SendMail } from '../parts/mail.ts'
import type { Deliver } from './courier.ts'

/**
 * Delivers rows of a queue by mail. `toMessage` must make the same message at every attempt: mail servers
 * detect a second copy by its Message-ID.
 */
export function createMailDelivery<Row>(
  sendMail: SendMail,
  toMessage: (row: Row) => Message,
): Deliver<Row> {
  return async (row, signal) => {
    try {
      await sendMail(toMessage(row), signal)
    } catch (error) {
      throw new Error(`the mail server did not accept the message: ${mailReasonOf(error)}`)
    }
  }
}

/** The Message-ID of a mail, in angle brackets, at the host of its sender. */
export function messageIdOf(id: string, sender: string): string {
  return `<${id}@${/@([\w.-]+)>?\s*$/.exec(sender)?.[1] ?? 'localhost'}>`
}
