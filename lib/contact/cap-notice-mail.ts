import { moneyText } from '../config/money.ts'
import type { Message } from '../parts/mail.ts'
import type { CapNoticeRow } from './cap-notices.ts'
import { messageIdOf } from './mail-delivery.ts'

interface CapNoticeMailOptions {
  /** The sender, such as Meridian <geo@shop.example>. */
  readonly from: string
  /** The address of the dashboard. */
  readonly app: string
  /** The link by which a further receiver stops the mails; null: the mail is to the user. */
  readonly stopUrl: string | null
}

/** The mail to the user whom the notice is about, or to a further receiver. */
export function toNoticeMessage(
  notice: CapNoticeRow,
  { from, app, stopUrl }: CapNoticeMailOptions,
): Message {
  const { subject, text } = WORDS[notice.threshold](notice)
  return {
    to: notice.email,
    subject,
    text: `${text}\n\n${linksOf(notice.account, { app, stopUrl })}\n`,
    messageId: messageIdOf(notice.id, from),
    date: new Date(notice.createdAt),
    isAutomatic: true,
    ...(stopUrl !== null && { unsubscribe: stopUrl }),
  }
}

function linksOf(
  account: string | null,
  { app, stopUrl }: Omit<CapNoticeMailOptions, 'from'>,
): string {
  if (stopUrl === null) {
    return `Your usage and your settings: ${app}/billing\nWhen these mails come: ${app}/usage/mails`
  }
  return `You get this mail because ${account} has named your address, and you have confirmed it. To get no more of them: ${stopUrl}`
}

type Words = (notice: CapNoticeRow) => { readonly subject: string; readonly text: string }

const WORDS: Readonly<Record<CapNoticeRow['threshold'], Words>> = {
  near_cap: (notice) => {
    const { has, plan } = nounsOf(notice)
    const share = `${notice.percent ?? 80}%`
    return {
      subject: `${has} used ${share} of ${notice.account === null ? 'your' : 'the'} requests`,
      text: `${has} used ${share} of the ${count(notice.requests)} requests that ${plan} includes in this period.`,
    }
  },
  reach_cap: (notice) => {
    const { has, plan } = nounsOf(notice)
    return {
      subject: `${has} used all ${notice.account === null ? 'your ' : ''}requests`,
      text: `${has} used all ${count(notice.requests)} requests that ${plan} includes in this period. Further look-ups return only the country or, if overages are on, are charged up to the spending cap.`,
    }
  },
  reach_spending_cap: (notice) => {
    const { requests, amount, currency, account } = notice
    const { has } = nounsOf(notice)
    const cap = account === null ? 'your spending cap' : 'the spending cap'
    return {
      subject: `${has} reached ${cap}`,
      text: `${has} reached ${cap} of ${moneyText(amount ?? 0, currency ?? '')} with ${count(requests)} requests over the monthly cap. Further look-ups of this period return only the country and cost nothing.`,
    }
  },
}

function nounsOf({ account }: CapNoticeRow) {
  if (account === null) return { has: 'You have', plan: 'your plan' }
  return { has: `${account} has`, plan: 'the plan' }
}

function count(n: number): string {
  return n.toLocaleString('en')
}
