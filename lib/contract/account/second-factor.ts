import * as v from 'valibot'
import { count, flag, strictObject, Timestamp, text, textUpTo } from '../common.ts'
import { type Operation, ok } from '../operation.ts'
import { PasswordAgain } from './email.ts'

export const SecondFactor = strictObject('Whether sign-ins of the caller ask for a second factor', {
  isOn: flag('Whether they do'),
  since: v.optional(v.pipe(Timestamp, v.description('When it was turned on'))),
  recoveryCodes: v.optional(count('How many are still good')),
})
export type SecondFactor = v.InferOutput<typeof SecondFactor>

const OfferBody = strictObject('Confirms that the caller owns the account', {
  password: PasswordAgain,
})

const SecondFactorOffer = strictObject('A secret for an authenticator app; shown only here', {
  secret: text('In Base32, to type'),
  uri: text('To show as a QR code'),
})

const FirstCode = strictObject('What the app shows', {
  code: v.pipe(textUpTo(20), v.description('The first code of the app')),
})

const OwnerBody = strictObject('Confirms that the caller owns the account', {
  password: PasswordAgain,
  code: v.pipe(textUpTo(100), v.description('A code of the app, or a recovery code')),
})

const RecoveryCodes = strictObject('Codes for when the app is lost; shown only here', {
  recoveryCodes: v.pipe(v.array(v.string()), v.description('Each is good once')),
})

const PATH = '/v1/account/me/second-factor'
const shared = { tag: 'Account', fullAccess: true, limit: 'account' } as const
const change = {
  method: 'post',
  access: 'account:write',
  ...shared,
  successLimit: 'secondFactors',
  countsGuesses: true,
  errors: ['FORBIDDEN'],
} as const
const password = 'correct horse battery staple'
const codes = { recoveryCodes: ['4t9xw-0mzc7', 'h2k8d-qv51s'] }

export const secondFactorOperations = [
  {
    id: 'getSecondFactor',
    method: 'get',
    path: PATH,
    access: 'account:read',
    ...shared,
    summary: 'Whether the caller has a second factor',
    replies: ok('The second factor', SecondFactor, {
      isOn: true,
      since: '2026-01-15T12:00:00.000Z',
      recoveryCodes: 10,
    }),
    errors: ['FORBIDDEN'],
  },
  {
    id: 'offerSecondFactor',
    path: PATH,
    ...change,
    summary: 'Begin to turn on the second factor',
    description:
      'Makes a secret for an authenticator app (TOTP, RFC 6238). It counts once its first code is confirmed.',
    body: { schema: OfferBody, example: { password } },
    replies: ok('The secret', SecondFactorOffer, {
      secret: 'an example in Base32',
      uri: 'otpauth://totp/Meridian:ada%40shop.example?secret=…&issuer=Meridian&digits=6&period=30',
    }),
  },
  {
    id: 'confirmSecondFactor',
    path: `${PATH}/confirm`,
    ...change,
    summary: 'Turn on the second factor by the first code of the app',
    description: 'Ends all other sessions.',
    body: { schema: FirstCode, example: { code: '123456' } },
    replies: ok('It is on', RecoveryCodes, codes),
  },
  {
    id: 'renewRecoveryCodes',
    path: `${PATH}/recovery-codes`,
    ...change,
    summary: 'Replace all recovery codes',
    body: { schema: OwnerBody, example: { password, code: '123456' } },
    replies: ok('The new codes', RecoveryCodes, codes),
  },
  {
    id: 'removeSecondFactor',
    path: `${PATH}/remove`,
    ...change,
    summary: 'Turn off the second factor',
    body: { schema: OwnerBody, example: { password, code: '123456' } },
    replies: ok('It is off', SecondFactor, { isOn: false }),
  },
] as const satisfies readonly Operation[]
