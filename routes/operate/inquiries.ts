import { inquiryStore } from '../../lib/contact/delivery-store.ts'
import { deliveryRoutes } from './deliveries.ts'

const NO_RECEIVER =
  'MERIDIAN_CONTACT is not set: the contact form answers 503. Set it to a mailto: address, a webhook or store'

export const inquiryRoutes = deliveryRoutes({
  path: '/app/operate/inquiries',
  title: 'Inquiries',
  noun: 'inquiry',
  store: inquiryStore,
  describe: ({ name, email, company, userId, message }) => ({
    heading: name,
    facts: [
      ['E-mail', email],
      ['Company', company ?? undefined],
    ],
    userId,
    message,
  }),
  findCourier: ({ contact }) => contact.queue?.courier ?? null,
  findGap: ({ contact }) => (contact.queue === null ? NO_RECEIVER : null),
  reasonKept: 'Inquiries are only stored: MERIDIAN_CONTACT names no address and no webhook',
})
