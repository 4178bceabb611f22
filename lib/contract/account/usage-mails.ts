import * as v from 'valibot'
import { EmailAddress } from '../../parts/email-address.ts'
import { flag, object, strictObject } from '../common.ts'
import { type Operation, ok } from '../operation.ts'

/** The most thresholds that a user may set, and the most further receivers. */
export const MAX_THRESHOLDS = 5
export const MAX_RECEIVERS = 5

const Threshold = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100))
const Thresholds = v.pipe(
  v.array(Threshold),
  v.maxLength(MAX_THRESHOLDS, `must be at most ${MAX_THRESHOLDS} numbers`),
)

export const UsageReceiver = strictObject('A further receiver of mails about usage', {
  id: v.pipe(v.string(), v.uuid(), v.description('Identifies the receiver in paths')),
  email: v.pipe(EmailAddress, v.description('Where the mails go')),
  confirmed: flag('Whether the receiver has agreed; until then, no mail about usage is sent there'),
})
export type UsageReceiver = v.InferOutput<typeof UsageReceiver>

export const UsageMails = strictObject('When mails about usage are sent, and to whom', {
  thresholds: v.pipe(
    Thresholds,
    v.description('Shares of the monthly cap in per cent, in ascending order'),
  ),
  receivers: v.pipe(
    v.array(UsageReceiver),
    v.description('Besides the user, who always gets them'),
  ),
})
export type UsageMails = v.InferOutput<typeof UsageMails>

export const UsageMailsBody = object('When mails about usage are sent', {
  thresholds: v.pipe(
    Thresholds,
    v.description('Shares of the monthly cap in per cent; empty: no mails about the cap'),
  ),
})

export const UsageReceiverBody = object('The address of a further receiver', {
  email: v.pipe(EmailAddress, v.description('Where the mails are to go')),
})

const receiver = {
  id: '7d1f0e7a-3b53-4a0e-9a53-0c2f1c1f7b11',
  email: 'finance@shop.example',
  confirmed: false,
} satisfies UsageReceiver
const mails = ok('The settings', UsageMails, {
  thresholds: [50, 80, 100],
  receivers: [{ ...receiver, confirmed: true }],
})

const read = { tag: 'Account', access: 'account:read', limit: 'account' } as const
const write = {
  tag: 'Account',
  access: 'account:write',
  fullAccess: true,
  limit: 'account',
} as const

export const usageMailOperations = [
  {
    id: 'getUsageMails',
    method: 'get',
    path: '/v1/account/me/usage/mails',
    ...read,
    summary: 'When mails about usage are sent, and to whom',
    replies: mails,
  },
  {
    id: 'setUsageMails',
    method: 'put',
    path: '/v1/account/me/usage/mails',
    ...write,
    summary: 'Set when mails about usage are sent',
    successLimit: 'usageMails',
    description:
      'Each threshold is mailed once in a period, or again if the plan changes; of several reached at once, only the highest. One that use has passed already is mailed at the next request, unless a higher one was reached before. The mail about the spending cap is always sent. Each user may change these settings, or add a receiver, 20 times an hour.',
    body: { schema: UsageMailsBody, example: { thresholds: [50, 80, 100] } },
    replies: mails,
  },
  {
    id: 'addUsageReceiver',
    method: 'post',
    path: '/v1/account/me/usage/receivers',
    ...write,
    summary: 'Add a further receiver of mails about usage',
    successLimit: 'usageMails',
    description:
      'The address gets one mail with a link, valid for a week, and nothing more until the receiver confirms. Within a week of being asked or removed, the same user adding it again sends no other mail; the first link goes on working. Each address gets at most 3 such mails a day. A user may have 5 receivers. Each user may change these settings, or add a receiver, 20 times an hour.',
    body: { schema: UsageReceiverBody, example: { email: receiver.email } },
    replies: ok('The receiver', UsageReceiver, receiver),
    errors: ['EMAIL_NOT_VERIFIED'],
  },
  {
    id: 'removeUsageReceiver',
    method: 'delete',
    path: '/v1/account/me/usage/receivers/{receiverId}',
    ...write,
    summary: 'Remove a receiver of mails about usage',
    params: {
      receiverId: {
        description: 'The id of the receiver',
        example: receiver.id,
        schema: v.pipe(v.string(), v.uuid()),
      },
    },
    replies: { 204: { description: 'Removed', schema: null } },
    errors: ['NOT_FOUND'],
  },
] as const satisfies readonly Operation[]
