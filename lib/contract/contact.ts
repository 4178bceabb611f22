import * as v from 'valibot'
import type { Operation } from './operation.ts'

export const OkResponse = v.strictObject({ ok: v.boolean() })

/** What any inquiry says, with or without a key. */
export const InquiryBody = v.object({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  company: v.optional(v.pipe(v.string(), v.maxLength(100))),
  message: v.pipe(v.string(), v.minLength(1), v.maxLength(5000)),
})
export type InquiryBody = v.InferOutput<typeof InquiryBody>

export const ContactBody = v.object({
  ...InquiryBody.entries,
  email: v.pipe(v.string(), v.email(), v.maxLength(254)),
  verification: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(2048),
    v.description('The answer to the bot check: a Turnstile token or a solved challenge'),
  ),
})
export type ContactBody = v.InferOutput<typeof ContactBody>

export const ContactChallenge = v.pipe(
  v.strictObject({
    algorithm: v.pipe(v.string(), v.description('The hash function, such as SHA-256')),
    challenge: v.pipe(v.string(), v.description('The hash of the salt and the number to find')),
    maxnumber: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.description('The number to find is not above this'),
    ),
    salt: v.string(),
    signature: v.string(),
  }),
  v.description('A proof of work for the ALTCHA widget, to be solved once'),
)
export type ContactChallenge = v.InferOutput<typeof ContactChallenge>

export const contactOperations = [
  {
    id: 'sendInquiry',
    method: 'post',
    path: '/v1/contact',
    tag: 'Contact',
    summary: 'Ask for enterprise or custom pricing',
    description: 'Each address may send five inquiries in 15 minutes.',
    access: 'public',
    limit: 'contact',
    body: {
      schema: ContactBody,
      example: {
        name: 'Ada Example',
        email: 'ada@shop.example',
        company: 'Example Shop',
        message: 'We need two million look-ups a month.',
        verification: 'the-answer-to-the-bot-check',
      },
    },
    replies: {
      200: { description: 'The inquiry is queued', schema: OkResponse, example: { ok: true } },
    },
    errors: ['BOT_VERIFICATION_FAILED', 'SERVICE_UNAVAILABLE'],
  },
  {
    id: 'getContactChallenge',
    method: 'get',
    path: '/v1/contact/challenge',
    tag: 'Contact',
    summary: 'A bot check to solve before an inquiry',
    description: 'Not found where inquiries are checked by Cloudflare Turnstile.',
    access: 'public',
    limit: 'address',
    replies: {
      200: {
        description: 'A new challenge',
        schema: ContactChallenge,
        example: {
          algorithm: 'SHA-256',
          challenge: '0'.repeat(64),
          maxnumber: 50_000,
          salt: 'a1b2c3d4?expires=1768478400',
          signature: '0'.repeat(64),
        },
      },
    },
    errors: ['NOT_FOUND'],
  },
] as const satisfies readonly Operation[]
