import * as v from 'valibot'
import { textUpTo } from './common.ts'
import type { Operation } from './operation.ts'

export const OkResponse = v.strictObject({ ok: v.boolean() })

/** What any inquiry says, with or without a key. */
export const InquiryBody = v.object({
  name: v.pipe(textUpTo(100), v.minLength(1)),
  company: v.optional(textUpTo(100)),
  message: v.pipe(textUpTo(5000), v.minLength(1)),
})
export type InquiryBody = v.InferOutput<typeof InquiryBody>

export const ContactBody = v.object({
  ...InquiryBody.entries,
  email: v.pipe(textUpTo(254), v.email()),
  verification: v.pipe(
    textUpTo(2048),
    v.minLength(1),
    v.description(
      'The answer to the bot check: a Turnstile token, or the solved challenge in base64',
    ),
  ),
})
export type ContactBody = v.InferOutput<typeof ContactBody>

const Hex = v.pipe(v.string(), v.regex(/^(?:[0-9a-f]{2})+$/))

export const ContactChallenge = v.pipe(
  v.strictObject({
    parameters: v.strictObject({
      algorithm: v.pipe(v.string(), v.description('The key derivation, such as PBKDF2/SHA-256')),
      cost: v.pipe(v.number(), v.integer(), v.minValue(1), v.description('Rounds of each try')),
      nonce: v.pipe(Hex, v.description('What a try begins with; the counter follows it')),
      salt: Hex,
      keyLength: v.pipe(v.number(), v.integer(), v.minValue(1), v.description('In bytes')),
      keyPrefix: v.pipe(Hex, v.description('What the key begins with that is to be found')),
      keySignature: Hex,
      expiresAt: v.pipe(v.number(), v.integer(), v.description('Epoch seconds')),
    }),
    signature: Hex,
  }),
  v.description('A proof of work as the ALTCHA widget solves it, good for one inquiry'),
)
export type ContactChallenge = v.InferOutput<typeof ContactChallenge>

export const contactOperations = [
  {
    id: 'sendInquiry',
    method: 'post',
    path: '/v1/contact',
    tag: 'Contact',
    summary: 'Ask for enterprise or custom pricing',
    description:
      'Each address may send five in 15 minutes. 200 means that the inquiry is stored, to be delivered; 503 that this service takes none.',
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
          parameters: {
            algorithm: 'PBKDF2/SHA-256',
            cost: 5_000,
            expiresAt: 1_768_478_400,
            keyLength: 32,
            keyPrefix: 'a1'.repeat(16),
            keySignature: 'b2'.repeat(32),
            nonce: 'c3'.repeat(16),
            salt: 'd4'.repeat(16),
          },
          signature: 'e5'.repeat(32),
        },
      },
    },
    errors: ['NOT_FOUND'],
  },
] as const satisfies readonly Operation[]
