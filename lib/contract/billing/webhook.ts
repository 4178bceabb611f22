import { type Operation, ok } from '../operation.ts'
import { examples } from './billing-examples.ts'
import { ReceivedResponse, StripeEvent } from './billing-schemas.ts'

export const webhookOperations = [
  {
    id: 'receiveStripeEvent',
    method: 'post',
    path: '/v1/billing/webhook',
    tag: 'Billing',
    access: 'public',
    limit: 'none',
    summary: 'Receive an event from Stripe',
    description:
      'An event without a valid signature is refused. A 503 makes Stripe deliver the event again.',
    headers: {
      'Stripe-Signature': {
        description: 'Time and signature of the event',
        example: examples.signature,
      },
    },
    body: { schema: StripeEvent, example: examples.event, maxBytes: 262_144, raw: true },
    replies: ok('Processed', ReceivedResponse, { received: true }),
    errors: ['BAD_REQUEST', 'BILLING_NOT_CONFIGURED', 'BILLING_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  },
] as const satisfies readonly Operation[]
