import * as v from 'valibot'
import { MAX_ORIGINS, parseOriginPattern } from '../../lib/access/origins.ts'
import { parseScope, toScopes } from '../../lib/access/scopes.ts'
import { SCOPES } from '../../lib/contract/operation.ts'
import { usageText } from '../../lib/parts/clone-or-package.ts'
import { EmailAddress } from '../../lib/parts/email-address.ts'
import { checkOptions, FLAG, readArguments, TEXT } from './options.ts'
import { UsageError } from './run.ts'

const USAGE = `Usage: ${usageText('key', '--email you@example.com --name first')}
  --plan free|starter|pro       set the user's plan; new users get unlimited
  --type secret|publishable     default: secret
  --scopes geo:read             for secret keys; some of ${SCOPES.join(', ')}, or all
  --origins https://a,https://b for publishable keys; https://*.example.com allows subdomains
or, with --email and one of these, to manage the user's keys:
  --list                        list them; with --json as the API does
  --revoke KEY                  revoke one permanently; KEY is the beginning of its id or prefix
  --renew KEY                   extend one to the lifetime of a new key
  --rotate KEY                  replace one, which goes on working for a day`

const List = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((part) => part.trim())),
)

/** In --scopes: every scope, and those of later releases. */
const FULL_ACCESS = 'all'

const isFullAccess = (names: readonly string[]) => names.join() === FULL_ACCESS

/** null: full access. */
const Scopes = v.pipe(
  List,
  v.check(
    (names) => isFullAccess(names) || names.every((name) => parseScope(name) !== undefined),
    `must be ${FULL_ACCESS}, or some of ${SCOPES.join(', ')}`,
  ),
  v.transform((names) => (isFullAccess(names) ? null : toScopes(names))),
)

const NewKeyOptions = v.strictObject({
  email: EmailAddress,
  name: v.pipe(
    v.string('is missing'),
    v.trim(),
    v.nonEmpty('must not be empty'),
    v.maxLength(100, 'must have at most 100 characters'),
  ),
  plan: v.optional(v.string()),
  type: v.optional(
    v.picklist(['secret', 'publishable'], 'must be secret or publishable'),
    'secret',
  ),
  /** A key only looks up unless more is asked for. */
  scopes: v.optional(Scopes, 'geo:read'),
  origins: v.optional(
    v.pipe(
      List,
      v.maxLength(MAX_ORIGINS, `must be at most ${MAX_ORIGINS}`),
      v.everyItem(
        (text) => parseOriginPattern(text) !== null,
        'must be origins such as https://app.example or https://*.example.com',
      ),
    ),
  ),
})
export type NewKeyOptions = v.InferOutput<typeof NewKeyOptions>

const KeyName = v.pipe(
  v.string(),
  v.regex(
    /^([sp]k_live_[0-9a-f]{1,8}|[0-9a-f]{8,32})$/,
    'must be at least 8 characters of the id of a key, or its prefix',
  ),
)

const ExistingKeyOptions = v.strictObject(
  {
    email: EmailAddress,
    list: v.optional(v.boolean()),
    json: v.optional(v.boolean()),
    revoke: v.optional(KeyName),
    renew: v.optional(KeyName),
    rotate: v.optional(KeyName),
  },
  'cannot be used together with --list, --revoke, --renew or --rotate',
)

/** Reads the arguments of `npm run key`. Throws an error that contains the usage. */
export function readKeyCommand() {
  const texts = { email: TEXT, name: TEXT, plan: TEXT, type: TEXT, scopes: TEXT, origins: TEXT }
  const options = { ...texts, list: FLAG, json: FLAG, revoke: TEXT, renew: TEXT, rotate: TEXT }
  const { values } = readArguments({ options }, USAGE)
  const { list, revoke, renew, rotate } = values
  const actions = [list, revoke, renew, rotate].filter((value) => value !== undefined)
  if (actions.length > 1)
    throw new UsageError('Use only one of --list, --revoke, --renew and --rotate', USAGE)
  if (values.json === true && values.list !== true)
    throw new UsageError('--json needs --list', USAGE)
  if (actions.length === 0) return readNewKey(values)
  return checkOptions(ExistingKeyOptions, { email: undefined, ...values }, USAGE)
}

function readNewKey(values: object): NewKeyOptions {
  const given = { email: undefined, name: undefined, ...values }
  const options = checkOptions(NewKeyOptions, given, USAGE)
  const { type, scopes, origins } = options
  if (type === 'secret' && origins !== undefined) {
    throw new UsageError('--origins is for publishable keys: add --type publishable', USAGE)
  }
  if (type === 'publishable' && origins === undefined) {
    throw new UsageError('--origins is missing: a publishable key needs at least one', USAGE)
  }
  if (type === 'publishable' && scopes?.every((scope) => scope === 'geo:read') !== true) {
    throw new UsageError('--scopes of a publishable key can only be geo:read', USAGE)
  }
  return options
}
