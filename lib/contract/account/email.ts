import * as v from 'valibot'
import { EmailAddress } from '../../parts/email-address.ts'
import { strictObject, textUpTo } from '../common.ts'
import { type Operation, ok } from '../operation.ts'

/** The password of the caller, asked again for changes that could take the account from its owner. */
export const PasswordAgain = v.optional(
  v.pipe(textUpTo(1_000), v.description('Required if the account has a password')),
)

/** A code of the second factor, asked wherever the password is asked again. */
export const CodeAgain = v.optional(
  v.pipe(
    textUpTo(100),
    v.description('Required if the second factor is on: a code of the app, or a recovery code'),
  ),
)

export const ChangeEmailBody = strictObject('The new e-mail address', {
  email: v.pipe(EmailAddress, v.description('The new address')),
  password: PasswordAgain,
  code: CodeAgain,
})

export const ConfirmEmailBody = strictObject('What the link in the mail contains', {
  email: v.pipe(EmailAddress, v.description('The new address')),
  token: v.pipe(textUpTo(200), v.description('The text that proves who got the mail')),
})
export type ConfirmEmailBody = v.InferOutput<typeof ConfirmEmailBody>

export const EmailChange = strictObject('How far the change of an e-mail address is', {
  status: v.pipe(
    v.picklist(['changed', 'mailed']),
    v.description('mailed: the address changes once the link in the mail is confirmed'),
  ),
})

const shared = {
  method: 'post',
  tag: 'Account',
  access: 'account:write',
  fullAccess: true,
  limit: 'account',
  successLimit: 'emailChanges',
  countsGuesses: true,
} as const

export const emailOperations = [
  {
    id: 'changeEmail',
    path: '/v1/account/me/email',
    ...shared,
    summary: 'Change the e-mail address of the caller',
    description:
      'If this service sends mail, the new address gets a link, valid for an hour, and the old one stays until then. Otherwise it changes at once. Each user may try 10 times an hour.',
    body: {
      schema: ChangeEmailBody,
      example: { email: 'ada@shop.example', password: 'correct horse battery staple' },
    },
    replies: ok('The change', EmailChange, { status: 'mailed' }),
    errors: ['FORBIDDEN'],
  },
  {
    id: 'confirmEmail',
    path: '/v1/account/me/email/confirm',
    ...shared,
    summary: 'Confirm a new e-mail address by the link in the mail',
    description:
      'The caller must be the user who asked for the change. Ends all other sessions, and notifies the old address.',
    body: {
      schema: ConfirmEmailBody,
      example: { email: 'ada@shop.example', token: 'text-of-the-link' },
    },
    replies: ok('The change', EmailChange, { status: 'changed' }),
    errors: ['FORBIDDEN'],
  },
] as const satisfies readonly Operation[]
