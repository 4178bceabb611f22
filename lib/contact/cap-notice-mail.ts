import { moneyText } from '../config/money.ts'
import type { Message } from '../parts/mail.ts'
import type { CapNoticeRow } from './cap-notices.ts'
import { messageIdOf } from './mail-delivery.ts'

interface CapNoticeMailOptions {
  /** The sender, such as Meridian <geo@shop.example>. */
  readonly from: string
  /** The address of the page about overages. */
  readonly page: string
}

/** The mail to the user whom the notice is about. */
export function toNoticeMessage(
  notice: CapNoticeRow,
  { from, page }: CapNoticeMailOptions,
): Message {
  const { subject, text } = WORDS[notice.threshold](notice)
  return {
    to: notice.email,
    subject,
    text: `${text}\n\nYour usage and your settings: ${page}\n`,
    messageId: messageIdOf(notice.id, from),
    date: new Date(notice.createdAt),
    isAutomatic: true,
  }
}

type Words = (notice: CapNoticeRow) => { readonly subject: string; readonly text: string }

const WORDS: Readonly<Record<CapNoticeRow['threshold'], Words>> = {
  near_cap: ({ requests }) => ({
    subject: 'You have used 80% of your requests',
    text: `You have used 80% of the ${count(requests)} requests that your plan includes in this period.`,
  }),
  reach_cap: ({ requests }) => ({
    subject: 'You have used all your requests',
    text: `You have used all ${count(requests)} requests that your plan includes in this period. Further look-ups return only the country or, if overages are on, are charged up to your spending cap.`,
  }),
  reach_spending_cap: ({ requests, amount, currency }) => ({
    subject: 'You have reached your spending cap',
    text: `You have reached your spending cap of ${moneyText(amount ?? 0, currency ?? '')} with ${count(requests)} requests over the monthly cap. Further look-ups of this period return only the country and cost nothing.`,
  }),
}

function count(n: number): string {
  return n.toLocaleString('en')
}
