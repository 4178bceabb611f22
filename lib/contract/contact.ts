import * as v from 'valibot'
import { EmailAddress } from '../parts/email-address.ts'
import { flag, object, singleLine, strictObject, text, textUpTo } from './common.ts'
import { type Operation, ok } from './operation.ts'

export const OkResponse = strictObject('Confirms that the inquiry is stored', {
  ok: flag('Always true'),
})

/** The fields of every inquiry, with or without a key. */
export const InquiryBody = object('An inquiry from a signed-in user', {
  name: v.pipe(singleLine(100), v.description('Who asks')),
  company: v.optional(
    v.pipe(v.union([v.literal(''), singleLine(100)]), v.description('For whom, if for a company')),
  ),
  message: v.pipe(textUpTo(5000), v.minLength(1), v.description('The question')),
})
export type InquiryBody = v.InferOutput<typeof InquiryBody>

export const ContactBody = object('An inquiry from anyone, with a solved bot check', {
  ...InquiryBody.entries,
  email: v.pipe(EmailAddress, v.description('Where to answer')),
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

export const ContactChallenge = strictObject(
  'A proof of work for the ALTCHA widget, valid for one inquiry',
  {
    parameters: strictObject('What to solve', {
      algorithm: text('The key derivation, such as PBKDF2/SHA-256'),
      cost: v.pipe(v.number(), v.integer(), v.minValue(1), v.description('Iterations of each try')),
      nonce: v.pipe(Hex, v.description('The beginning of each try, followed by the counter')),
      salt: v.pipe(Hex, v.description('The salt of the key derivation')),
      keyLength: v.pipe(v.number(), v.integer(), v.minValue(1), v.description('In bytes')),
      keyPrefix: v.pipe(Hex, v.description('The beginning of the key to find')),
      keySignature: v.pipe(Hex, v.description('By which the server knows the key')),
      expiresAt: v.pipe(v.number(), v.integer(), v.description('Epoch seconds')),
    }),
    signature: v.pipe(Hex, v.description('By which the server knows the parameters as its own')),
  },
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
      'Each IP address may send five in 15 minutes. 200 means that the inquiry is stored. A service that accepts no inquiries answers 503.',
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
    replies: ok('The inquiry is stored', OkResponse, { ok: true }),
    errors: ['BOT_VERIFICATION_FAILED', 'SERVICE_UNAVAILABLE'],
  },
  {
    id: 'getContactChallenge',
    method: 'get',
    path: '/v1/contact/challenge',
    tag: 'Contact',
    summary: 'Get a bot check to solve before an inquiry',
    description: 'Answers 404 if Cloudflare Turnstile checks the inquiries.',
    access: 'public',
    limit: 'address',
    replies: ok('A new challenge', ContactChallenge, {
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
    }),
    errors: ['NOT_FOUND'],
  },
] as const satisfies readonly Operation[]
