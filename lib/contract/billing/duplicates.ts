import * as v from 'valibot'
import { type Operation, ok } from '../operation.ts'
import { read, subscriptionErrors, write } from './billing-columns.ts'
import { examples } from './billing-examples.ts'
import { DuplicateSubscription, SuccessResponse } from './billing-schemas.ts'

const path = '/v1/billing/subscription/duplicates'

export const duplicateOperations = [
  {
    id: 'listDuplicates',
    method: 'get',
    path,
    ...read,
    summary: 'Subscriptions that charge the caller besides the one in effect',
    replies: ok('Usually empty', v.array(DuplicateSubscription), [examples.duplicate]),
  },
  {
    id: 'endDuplicates',
    method: 'delete',
    path,
    ...write,
    summary: 'End all subscriptions but the one in effect, now',
    description: 'The unused time of those that are paid becomes credit for the next invoices.',
    replies: ok('Only one subscription is left', SuccessResponse, { success: true }),
    errors: subscriptionErrors,
  },
] as const satisfies readonly Operation[]
