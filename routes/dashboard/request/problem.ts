import type { GenericSchema } from 'valibot'
import type { ApiError } from '../../../lib/parts/errors.ts'
import { parse } from '../../../lib/parts/parse.ts'
import type { Problem } from '../../../pages/dashboard/parts/field.tsx'
import { errorForPage } from './call-api.ts'
import type { AuthAnswer } from './call-auth.ts'

/** By the name of a field in the API: the name of the field in the form. */
export type FormFields = Readonly<Record<string, string>>

/** How a page shows what is wrong: at the field, or above all forms. */
export type Refusal = { readonly problem: Problem } | { readonly error: string }

/** Shows an error of the API at the field of the form that it is about, in words without API names. */
export function toRefusal({ message, field: path }: Refused, fields: FormFields): Refusal {
  const [name = ''] = path?.split('.') ?? []
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (field === undefined) return { error: message }
  return { problem: { field, text: toSentence(message.replace(`${path}: `, '')) } }
}

type Refused = Pick<ApiError, 'message' | 'field'>

/** `Must be a number` from `must be a number`, and `This is wrong` from `is wrong`. */
function toSentence(text: string): string {
  if (/^(is|has) /.test(text)) return `This ${text}`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** Checks a form before its fields are sent to better-auth. Returns what is wrong with it, or null. */
export function findRefusal(schema: GenericSchema, body: object): Refusal | null {
  try {
    parse(schema, body)
    return null
  } catch (error) {
    return toRefusal(errorForPage(error), FIELD_BY_NAME)
  }
}

/** The fields of our forms, by their names in the API of better-auth. */
const FIELD_BY_NAME: FormFields = {
  name: 'name',
  email: 'email',
  password: 'password',
  currentPassword: 'current',
  newPassword: 'password',
}

/** The fields of our forms that the errors of better-auth are about. */
const FIELD_BY_CODE: FormFields = {
  INVALID_EMAIL: 'email',
  INVALID_PASSWORD: 'current',
  PASSWORD_TOO_COMMON: 'password',
  PASSWORD_TOO_LONG: 'password',
  PASSWORD_TOO_SHORT: 'password',
  USER_ALREADY_EXISTS: 'email',
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'email',
}

/** Also for accounts that an operator has made and that nobody has a password for yet. */
const TAKEN =
  'This address already has an account. Sign in, or ask for a link to set a new password.'

/** Shows an error of better-auth at the field of the form that it is about. */
export function toAuthRefusal({ code, message }: Pick<AuthAnswer, 'code' | 'message'>): Refusal {
  const field = Object.hasOwn(FIELD_BY_CODE, code) ? FIELD_BY_CODE[code] : undefined
  const text = code.startsWith('USER_ALREADY_EXISTS') ? TAKEN : message
  if (field !== undefined) return { problem: { field, text } }
  const [, path, problem] = OF_BODY.exec(message) ?? []
  return toRefusal({ message: problem ?? message, field: path }, FIELD_BY_NAME)
}

/** How better-auth writes a message about a field: `[body.email] Invalid email address`. */
const OF_BODY = /^\[body\.(\w+)\] (.*)$/s
