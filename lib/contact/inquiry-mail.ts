import type { Message } from '../parts/mail.ts'
import type { InquiryRow } from './inquiry-store.ts'
import { messageIdOf } from './mail-delivery.ts'

interface InquiryMailOptions {
  /** Address that receives inquiries. */
  readonly to: string
  /** The sender, such as Meridian <geo@shop.example>. */
  readonly from: string
}

/** The mail to the operator. */
export function toInquiryMessage(inquiry: InquiryRow, { to, from }: InquiryMailOptions): Message {
  const name = oneLine(inquiry.name)
  const address = inquiry.email
  return {
    to,
    subject: `Inquiry from ${name}`,
    text: toText(inquiry),
    messageId: messageIdOf(inquiry.id, from),
    date: new Date(inquiry.createdAt),
    ...(PLAIN_ADDRESS.test(address) && { replyTo: { name, address } }),
  }
}

function toText({ id, name, email, company, userId, message }: InquiryRow): string {
  const lines = [
    `Name: ${oneLine(name)}`,
    `E-mail: ${oneLine(email)}`,
    ...(company === null ? [] : [`Company: ${oneLine(company)}`]),
    ...(userId === null ? [] : [`User: ${userId}`]),
    `Inquiry: ${id}`,
  ]
  return `${lines.join('\n')}\n\n${message.toWellFormed()}\n`
}

/** An address that needs no quotes. A remote auth service may accept addresses of any form. */
const PLAIN_ADDRESS = /^[a-z\d.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z\d.-]{1,190}$/i

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
}
