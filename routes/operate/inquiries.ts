import { inquiryStore } from '../../lib/contact/delivery-store.ts'
import { deliveryRoutes } from './deliveries.ts'

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
  reasonKept: 'Inquiries are only stored: MERIDIAN_CONTACT names no address and no webhook',
})
