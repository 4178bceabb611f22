import {
  isRefusal,
  type Message,
  mailReasonOf,
  type SendMail,
  toAsciiDomain,
} from '../parts/mail.ts'
import { type Deliver, RefusedMessage } from './courier.ts'

/**
 * Delivers rows of a queue by mail. `toMessage` must make the same message at every attempt: mail servers
 * detect a second copy by its Message-ID.
 */
export function createMailDelivery<Row>(
  sendMail: SendMail,
  toMessage: (row: Row) => Message | Promise<Message>,
): Deliver<Row> {
  const makeMessage = async (row: Row) => {
    try {
      return await toMessage(row)
    } catch (cause) {
      // Of another release, or encrypted with another secret: the others can be sent.
      throw new RefusedMessage('the message cannot be read', { cause })
    }
  }
  return async (row, signal) => {
    const message = await makeMessage(row)
    try {
      await sendMail(message, signal)
    } catch (error) {
      const reason = `the mail server did not accept the message: ${mailReasonOf(error)}`
      throw isRefusal(error) ? new RefusedMessage(reason) : new Error(reason)
    }
  }
}

/** The Message-ID of a mail, in angle brackets, at the host of its sender. */
export function messageIdOf(id: string, sender: string): string {
  return `<${id}@${/@([\w.-]+)>?\s*$/.exec(toAsciiDomain(sender))?.[1] ?? 'localhost'}>`
}
