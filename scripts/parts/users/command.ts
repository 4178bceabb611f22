import * as v from 'valibot'
import { usageText } from '../../../lib/parts/clone-or-package.ts'
import { EmailAddress } from '../../../lib/parts/email-address.ts'
import { checkOptions, FLAG, readArguments, TEXT } from '../options.ts'

const USAGE = `Usage: ${usageText('user', '--email you@example.com --plan pro')}
  --email you@example.com  create the user, if new
  --plan free|starter|pro  set the plan; default for a new user: unlimited
  --role user|operator     set the role; default for a new user: user
or, with --email and one of these:
  --set-password           set the password: asks for it, or reads one line from a pipe
  --link                   print a link, valid once within an hour, to set the password
  --reset-second-factor    turn off the second factor of a person who lost app and recovery codes
  --delete                 delete the account for good; asks first, unless --yes is given
or
  --list                   list all users; with --json as JSON`

const ROLES = ['user', 'operator'] as const
const TRUE = v.literal(true)

const SetOptions = v.strictObject(
  {
    email: EmailAddress,
    plan: v.optional(v.string()),
    role: v.optional(v.picklist(ROLES, `must be one of ${ROLES.join(', ')}`)),
  },
  'cannot be used here',
)
export type SetOptions = v.InferOutput<typeof SetOptions>

/** What each flag may be combined with. */
const ACTIONS = {
  list: v.strictObject({ list: TRUE, json: v.optional(TRUE) }, 'cannot be used with --list'),
  'set-password': v.strictObject(
    { email: EmailAddress, 'set-password': TRUE },
    'cannot be used with --set-password',
  ),
  link: v.strictObject({ email: EmailAddress, link: TRUE }, 'cannot be used with --link'),
  'reset-second-factor': v.strictObject(
    { email: EmailAddress, 'reset-second-factor': TRUE },
    'cannot be used with --reset-second-factor',
  ),
  delete: v.strictObject(
    { email: EmailAddress, delete: TRUE, yes: v.optional(TRUE) },
    'cannot be used with --delete',
  ),
} as const

export type UserCommand =
  | { readonly action: 'list'; readonly json?: true | undefined }
  | { readonly action: 'set-password' | 'link' | 'reset-second-factor'; readonly email: string }
  | { readonly action: 'delete'; readonly email: string; readonly yes?: true | undefined }
  | ({ readonly action: 'set' } & SetOptions)

/** Reads the arguments of `npm run user`. Throws an error that contains the usage. */
export function readUserCommand(): UserCommand {
  const flags = {
    list: FLAG,
    json: FLAG,
    'set-password': FLAG,
    link: FLAG,
    delete: FLAG,
    yes: FLAG,
  }
  const options = { email: TEXT, plan: TEXT, role: TEXT, ...flags, 'reset-second-factor': FLAG }
  const { values } = readArguments({ options }, USAGE)
  if (values.list === true) {
    const { json } = checkOptions(ACTIONS.list, values, USAGE)
    return { action: 'list', json }
  }
  const given = { email: undefined, ...values }
  if (values['set-password'] === true) {
    const { email } = checkOptions(ACTIONS['set-password'], given, USAGE)
    return { action: 'set-password', email }
  }
  if (values.link === true) {
    return { action: 'link', email: checkOptions(ACTIONS.link, given, USAGE).email }
  }
  if (values['reset-second-factor'] === true) {
    const { email } = checkOptions(ACTIONS['reset-second-factor'], given, USAGE)
    return { action: 'reset-second-factor', email }
  }
  if (values.delete === true) {
    const { email, yes } = checkOptions(ACTIONS.delete, given, USAGE)
    return { action: 'delete', email, yes }
  }
  return { action: 'set', ...checkOptions(SetOptions, given, USAGE) }
}
