import * as v from 'valibot'
import { MAX_ORIGINS, parseOriginPattern } from '../lib/access/origins.ts'
import { parseScope, toScopes } from '../lib/access/scopes.ts'
import { SCOPES } from '../lib/contract/operation.ts'
import { checkOptions, Email, FLAG, splitOptions, TEXT } from './options.ts'

const USAGE = `Usage: npm run --silent key -- --email you@example.com --name first
  --plan free|starter|pro       set the user's plan
  --type secret|publishable     default: secret
  --scopes geo:read,…           secret keys; default: all of ${SCOPES.join(', ')}
  --origins https://a,https://b publishable keys; https://*.example.com for subdomains
or, with --email and one of these, for the keys that the user has:
  --list                        list them
  --revoke KEY                  end one for good; KEY is its id or prefix, or how it begins
  --renew KEY                   let one live as long as a key that is made now`

const List = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((part) => part.trim())),
)

const NewKeyOptions = v.strictObject({
  email: Email,
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
  scopes: v.optional(
    v.pipe(
      List,
      v.everyItem((name) => parseScope(name) !== undefined, `must be some of ${SCOPES.join(', ')}`),
      v.transform((names) => toScopes(names)),
    ),
  ),
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
    'must be the id or the prefix of a key, or the beginning of one',
  ),
)

const OldKeyOptions = v.strictObject(
  {
    email: Email,
    list: v.optional(v.boolean()),
    revoke: v.optional(KeyName),
    renew: v.optional(KeyName),
  },
  'cannot be used together with --list, --revoke or --renew',
)

export type KeyCommand =
  | { readonly action: 'create'; readonly options: NewKeyOptions }
  | { readonly action: 'list'; readonly email: string }
  /** `key` is the beginning of an id or of a prefix. */
  | { readonly action: 'revoke' | 'renew'; readonly email: string; readonly key: string }

/** Reads what `npm run key` is asked to do. Throws an error that shows its usage. */
export function readKeyCommand(args: string[]): KeyCommand {
  const texts = { email: TEXT, name: TEXT, plan: TEXT, type: TEXT, scopes: TEXT, origins: TEXT }
  const values = splitOptions(args, { ...texts, list: FLAG, revoke: TEXT, renew: TEXT }, USAGE)
  const asked = [values.list, values.revoke, values.renew].filter((value) => value !== undefined)
  if (asked.length > 1) throw new Error(`Only one of --list, --revoke and --renew\n\n${USAGE}`)
  if (asked.length === 0) return { action: 'create', options: readNewKey(values) }
  const { email, revoke, renew } = checkOptions(
    OldKeyOptions,
    { email: undefined, ...values },
    USAGE,
  )
  if (revoke !== undefined) return { action: 'revoke', email, key: revoke }
  return renew === undefined ? { action: 'list', email } : { action: 'renew', email, key: renew }
}

function readNewKey(values: object): NewKeyOptions {
  const given = { email: undefined, name: undefined, ...values }
  const options = checkOptions(NewKeyOptions, given, USAGE)
  const { type, scopes, origins } = options
  if (type === 'secret' && origins !== undefined) {
    throw new Error('--origins is for publishable keys: add --type publishable')
  }
  if (type === 'publishable' && origins === undefined) {
    throw new Error('--origins is missing: a publishable key needs at least one')
  }
  if (type === 'publishable' && scopes?.some((scope) => scope !== 'geo:read')) {
    throw new Error('--scopes of a publishable key can only be geo:read')
  }
  return options
}
