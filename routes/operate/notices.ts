import type { CapNoticeRow } from '../../lib/contact/cap-notices.ts'
import { noticeStore } from '../../lib/contact/delivery-store.ts'
import { deliveryRoutes } from './deliveries.ts'

const CHANNELS = { mail: 'Mail to the user', webhook: 'Webhook of the operator' } as const

function headingOf({ threshold, percent }: CapNoticeRow): string {
  if (threshold === 'reach_spending_cap') return 'Spending cap reached'
  if (threshold === 'reach_cap') return 'Monthly cap reached'
  return `${percent ?? 80}% of the monthly cap reached`
}

/** Mails to further receivers are about the account that has named them. */
function partiesOf({ channel, email, account }: CapNoticeRow) {
  if (account === null) return [['By', CHANNELS[channel]] as const, ['About', email] as const]
  return [
    ['By', 'Mail to a further receiver'] as const,
    ['To', email] as const,
    ['About', account] as const,
  ]
}

const NOTHING_DELIVERS =
  'Users get no mail when they reach a limit: set MERIDIAN_SMTP_URL, or a webhook in MERIDIAN_CONTACT'

/** Queued mails and webhook calls that say that a user has reached a limit. */
export const noticeRoutes = deliveryRoutes({
  path: '/app/operate/notices',
  title: 'Deliveries',
  noun: 'notice',
  store: noticeStore,
  describe: (notice) => ({
    heading: headingOf(notice),
    facts: [...partiesOf(notice), ['Limit', `${notice.requests.toLocaleString('en')} requests`]],
    userId: notice.userId,
  }),
  findCourier: ({ notices }, { channel }) => (notices.delivers(channel) ? notices : null),
  findGap: ({ notices }) =>
    notices.delivers('mail') || notices.delivers('webhook') ? null : NOTHING_DELIVERS,
  reasonKept: 'Nothing delivers it: MERIDIAN_SMTP_URL or the webhook of MERIDIAN_CONTACT is unset',
})
