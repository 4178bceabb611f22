import * as v from 'valibot'
import { strictObject, textUpTo } from '../common.ts'
import { type Operation, ok } from '../operation.ts'
import { DeletedResponse } from './account-schemas.ts'
import { CodeAgain, PasswordAgain } from './email.ts'

export const DeleteAccountBody = strictObject('Confirms that the account is to be deleted', {
  email: v.pipe(textUpTo(254), v.description('The e-mail address of the account')),
  password: PasswordAgain,
  code: CodeAgain,
})

export const accountEndingOperations = [
  {
    id: 'exportAccount',
    method: 'get',
    path: '/v1/account/me/export',
    tag: 'Account',
    access: 'account:read',
    fullAccess: true,
    limit: 'account',
    successLimit: 'exports',
    summary: 'Everything about the account of the caller, as one archive',
    description:
      'A gzipped tar archive of JSON files: profile, keys without their text, sites, sessions, usage, billing, inquiries, audit log and telemetry. Each user may make 10 an hour.',
    replies: {
      200: { description: 'The archive', schema: null, file: 'application/gzip' },
    },
  },
  {
    id: 'deleteAccount',
    method: 'post',
    path: '/v1/account/me/delete',
    tag: 'Account',
    access: 'account:write',
    fullAccess: true,
    limit: 'account',
    successLimit: 'passwords',
    countsGuesses: true,
    summary: 'Delete the account of the caller for good',
    description:
      'Ends the subscription at Stripe at once, without a refund, then deletes keys, sites, sessions, usage, telemetry and inquiries. If Stripe cannot be reached, the answer is 503 and nothing is deleted.',
    body: {
      schema: DeleteAccountBody,
      example: { email: 'ada@shop.example', password: 'correct horse battery staple' },
    },
    replies: ok('Deleted', DeletedResponse, { deleted: true }),
    errors: ['FORBIDDEN', 'BILLING_NOT_CONFIGURED', 'BILLING_UNAVAILABLE'],
  },
] as const satisfies readonly Operation[]
