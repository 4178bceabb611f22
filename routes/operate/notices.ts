import { noticeStore } from '../../lib/contact/delivery-store.ts'
import { deliveryRoutes } from './deliveries.ts'

const CHANNELS = { mail: 'Mail to the user', webhook: 'Webhook of the operator' } as const
const THRESHOLDS = {
  near_cap: 'Monthly cap nearly reached',
  reach_cap: 'Monthly cap reached',
  reach_spending_cap: 'Spending cap reached',
} as const

const NOTHING_DELIVERS =
  'Users get no mail when they reach a limit: set MERIDIAN_SMTP_URL, or a webhook in MERIDIAN_CONTACT'

/** Queued mails and webhook calls that say that a user has reached a limit. */
export const noticeRoutes = deliveryRoutes({
  path: '/app/operate/notices',
  title: 'Deliveries',
  noun: 'notice',
  store: noticeStore,
  describe: ({ channel, email, threshold, requests, userId }) => ({
    heading: THRESHOLDS[threshold],
    facts: [
      ['By', CHANNELS[channel]],
      ['About', email],
      ['Limit', `${requests.toLocaleString('en')} requests`],
    ],
    userId,
  }),
  findCourier: ({ notices }, { channel }) => (notices.delivers(channel) ? notices : null),
  findGap: ({ notices }) =>
    notices.delivers('mail') || notices.delivers('webhook') ? null : NOTHING_DELIVERS,
  reasonKept: 'Nothing delivers it: MERIDIAN_SMTP_URL or the webhook of MERIDIAN_CONTACT is unset',
})
