import { noticeStore } from '../../lib/contact/delivery-store.ts'
import { deliveryRoutes } from './deliveries.ts'

const CHANNELS = { mail: 'Mail to the user', webhook: 'Webhook of the operator' } as const
const THRESHOLDS = {
  near_cap: 'Monthly cap nearly reached',
  reach_cap: 'Monthly cap reached',
  reach_spending_cap: 'Spending cap reached',
} as const

/** Queued mails and webhook calls that say that a user has reached a limit. */
export const noticeRoutes = deliveryRoutes({
  path: '/app/operate/notices',
  title: 'Mails and webhook calls',
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
  reasonKept: 'Nothing delivers it: MERIDIAN_SMTP_URL or the webhook of MERIDIAN_CONTACT is unset',
})
