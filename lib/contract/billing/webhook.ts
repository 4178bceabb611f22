import { examples, ReceivedResponse, StripeEvent } from './billing-schemas.ts'
import type { Operation } from './operation.ts'

export const webhookOperations = [
  {
    id: 'receiveStripeEvent',
    method: 'post',
    path: '/v1/billing/webhook',
    tag: 'Billing',
    access: 'public',
    limit: 'none',
    summary: 'Receive an event of the payment processor',
    description:
      'An event without a valid signature is refused. 503 asks Stripe to deliver it again.',
    headers: {
      'Stripe-Signature': {
        description: 'Time and signature of the event',
        example: examples.signature,
      },
    },
    body: { schema: StripeEvent, example: examples.event, maxBytes: 262_144, raw: true },
    replies: {
      200: { description: 'Processed', schema: ReceivedResponse, example: { received: true } },
    },
    errors: ['BAD_REQUEST', 'BILLING_NOT_CONFIGURED', 'BILLING_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  },
] as const satisfies readonly Operation[]
