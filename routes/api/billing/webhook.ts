import { receiveEvent } from '../../../lib/billing/events/receive-event.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Handlers } from '../../context.ts'

export function webhookHandlers({ billing, overages }: Pick<Services, 'billing' | 'overages'>) {
  return {
    receiveStripeEvent: async ({ headers, body: bytes, now }) => {
      const signature = headers['Stripe-Signature']
      if (signature === undefined) throw new ApiError('BAD_REQUEST', 'Stripe-Signature is missing')
      await receiveEvent({ billing, overages }, { bytes, signature }, now)
      return { status: 200, body: { received: true } }
    },
  } satisfies Partial<Handlers>
}
