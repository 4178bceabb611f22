import * as v from 'valibot'
import { DAY_MS, SECOND_MS } from '../../parts/durations.ts'
import {
  Count,
  count,
  flag,
  object,
  pageOf,
  singleLine,
  strictObject,
  Timestamp,
  text,
  textUpTo,
  UrlText,
} from '../common.ts'
import { SCOPES } from '../operation.ts'

const KEY_TYPES = ['secret', 'publishable'] as const
export type KeyType = (typeof KEY_TYPES)[number]

const KeyPrefix = text('The first 16 characters of the key')

export const KeyId = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{32}$/),
  v.description('A hash that identifies the key in paths'),
)

const LastUsedAt = v.nullable(v.pipe(Timestamp, v.description('null: never used')))
const KeyName = text('The name that its owner gave it')
const KeyTypeField = v.pipe(
  v.picklist(KEY_TYPES),
  v.description('secret: for servers; publishable: look-ups only, in pages of its origins'),
)
const AllowedOrigins = v.pipe(
  v.nullable(v.array(v.string())),
  v.description('Where a publishable key works; null for a secret one'),
)

export const SiteId = v.pipe(v.string(), v.uuid(), v.description('Identifies the site in paths'))

const keyEntries = {
  id: KeyId,
  prefix: KeyPrefix,
  name: KeyName,
  type: KeyTypeField,
  scopes: v.pipe(
    v.nullable(v.array(v.picklist(SCOPES))),
    v.description('What the key may do; null: everything'),
  ),
}

export const UserProfile = strictObject('The profile of the caller', {
  id: text('Identifies the user'),
  name: v.nullable(text('As the user gave it; null: unknown')),
  email: v.nullable(text('The e-mail address; null: unknown')),
  emailVerified: flag('Whether the user has confirmed the address'),
  createdAt: v.nullable(v.pipe(Timestamp, v.description('Of the account; null: unknown'))),
})
export type UserProfile = v.InferOutput<typeof UserProfile>

export const ApiKeyInfo = strictObject('Metadata of a key; the key itself cannot be read again', {
  ...keyEntries,
  allowedOrigins: AllowedOrigins,
  isActive: flag('Whether it works; false once it has expired'),
  createdAt: Timestamp,
  lastUsedAt: LastUsedAt,
  expiresAt: v.nullable(v.pipe(Timestamp, v.description('When it stops working; null: never'))),
})
export type ApiKeyInfo = v.InferOutput<typeof ApiKeyInfo>

export const ApiKeyCreated = strictObject('A new key; its text is shown only here', {
  rawKey: text('The full key; shown only here'),
  ...keyEntries,
  allowedOrigins: v.optional(AllowedOrigins),
})
export type ApiKeyCreated = v.InferOutput<typeof ApiKeyCreated>

export const Site = strictObject('An origin whose pages may send beacons', {
  id: SiteId,
  name: v.pipe(UrlText, v.description('An origin, such as https://shop.example')),
  userId: text('The user who registered it'),
  createdAt: Timestamp,
})
export type Site = v.InferOutput<typeof Site>

export const AuditLogEntry = strictObject('One audit entry: who did what, to what, and when', {
  id: v.pipe(v.number(), v.integer(), v.description('Later entries have larger ones')),
  app: text('Where the change came from: api, dashboard, cli, stripe'),
  actor_id: text(
    'The user in whose log the entry is; it is who acted, unless app or actor_label names another',
  ),
  actor_label: v.nullable(
    text(
      'Who acted: the prefix of the key, the e-mail address of a session or the name of the command; or operator, receiver or link in a mail; null: Stripe, or unknown',
    ),
  ),
  action: text('What was done, such as create_key'),
  target_type: v.nullable(text('What was changed, such as api_key; null: nothing in particular')),
  target_id: v.nullable(text('Identifies what was changed; null: nothing in particular')),
  detail: v.nullable(text('From what to what, or other particulars; null: none')),
  created_at: v.pipe(v.number(), v.integer(), v.description('Unix epoch seconds')),
})
export type AuditLogEntry = v.InferOutput<typeof AuditLogEntry>

export const AuditList = strictObject('One page of the audit log', {
  logs: v.pipe(v.array(AuditLogEntry), v.description('Newest first')),
  total: count('The number of matching entries on all pages'),
  limit: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(100),
    v.description('The most entries of this page'),
  ),
  offset: count('Entries before this page'),
})
export type AuditList = v.InferOutput<typeof AuditList>

export const UsageStats = strictObject('Usage of the caller in the current period', {
  totalKeys: count('All keys, with expired ones'),
  activeKeys: count('Keys that work'),
  totalRequests: count('Counted requests of the current period'),
  monthlyCap: v.pipe(
    v.nullable(Count),
    v.description('The most requests of a period; null: overages are enabled'),
  ),
  dailyUsage: v.pipe(
    v.array(
      v.strictObject({
        date: v.pipe(v.string(), v.isoDate(), v.description('The day, UTC')),
        requests: count('Counted requests of the day'),
      }),
    ),
    v.description('The last 30 days, UTC, oldest first'),
  ),
  keys: v.pipe(
    v.array(
      v.strictObject({
        keyPrefix: KeyPrefix,
        keyName: KeyName,
        isActive: flag('Whether it works; false once it has expired'),
        lastUsedAt: LastUsedAt,
        rateLimitRemaining: count('Requests that the key may send now'),
        rateLimitMax: count('Requests per minute that the plan allows'),
      }),
    ),
    v.description('Every key of the caller'),
  ),
})
export type UsageStats = v.InferOutput<typeof UsageStats>

export const DeletedResponse = strictObject('Confirms a permanent deletion', {
  deleted: flag('Always true'),
})
export const KeyRenewed = strictObject('Confirms that the expiry of a key was reset', {
  status: v.pipe(v.literal('renewed'), v.description('Always renewed')),
})

/** Patterns of an origin, for documentation: the parser is stricter about the host. */
const SCHEME = '^[Hh][Tt][Tt][Pp][Ss]?://'
const HOST = '[^\\s/\\\\?#@*%]+'

export const CreateKeyQuery = v.object({
  expiresInDays: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[1-9]\d{0,3}$/, 'must be a number of days from 1 to 9999'),
      v.description('From 1 to 9999. A plan may let it expire sooner; a renewal begins it anew'),
    ),
  ),
})
export type CreateKeyQuery = v.InferOutput<typeof CreateKeyQuery>

const MAX_GRACE_DAYS = 30

export const RotateKeyBody = strictObject('How long the replaced key goes on working', {
  gracePeriodSeconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue((MAX_GRACE_DAYS * DAY_MS) / SECOND_MS),
      v.description('0: not at all, at most 30 days'),
    ),
    DAY_MS / SECOND_MS,
  ),
})

export type RotateKeyBody = v.InferOutput<typeof RotateKeyBody>

const NewKey = strictObject('The key to make', {
  name: v.pipe(singleLine(100), v.description('Stored without surrounding blanks')),
  type: v.optional(KeyTypeField, 'secret'),
  scopes: v.nullish(
    v.pipe(
      v.array(v.picklist([...SCOPES, 'location:read'])),
      v.minLength(1),
      v.maxLength(SCOPES.length + 1),
      v.description(
        'Secret keys only; omitted or null for full access. location:read means geo:read',
      ),
    ),
  ),
  allowedOrigins: v.nullish(
    v.pipe(
      v.array(v.pipe(textUpTo(300), v.metadata({ pattern: `${SCHEME}(\\*\\.)?${HOST}/?$` }))),
      v.minLength(1),
      v.maxLength(20),
      v.description(
        'For publishable keys only, else omitted or null: exact origins, or patterns such as https://*.shop.example',
      ),
    ),
  ),
})

/** The rules of `toKeyAccess` for each type of key, in JSON Schema. */
const BY_KEY_TYPE = {
  if: {
    properties: { type: { const: 'publishable' } },
    required: ['type'],
    additionalProperties: true,
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    properties: {
      scopes: { type: 'array', items: { enum: ['geo:read', 'location:read'] } },
      allowedOrigins: { type: 'array', minItems: 1 },
    },
    required: ['allowedOrigins'],
    additionalProperties: true,
  },
  else: { properties: { allowedOrigins: { type: 'null' } }, additionalProperties: true },
} as const

/** Strict: otherwise a misspelt `scopes` would create a key with full access. */
export const CreateKeyBody = v.pipe(NewKey, v.metadata(BY_KEY_TYPE))
export type CreateKeyBody = v.InferOutput<typeof CreateKeyBody>

export const CreateSiteBody = object('The site to register', {
  name: v.pipe(
    textUpTo(300),
    v.metadata({ pattern: `${SCHEME}${HOST}/?$` }),
    v.description('An http or https origin, such as https://shop.example'),
  ),
})
export type CreateSiteBody = v.InferOutput<typeof CreateSiteBody>

export const AuditQuery = v.object({
  ...pageOf({ name: 'Entries', usual: 50, most: 100 }),
  action: v.optional(v.pipe(textUpTo(100), v.description('Only this action'))),
  search: v.optional(v.pipe(textUpTo(200), v.description('Text in action, target or detail'))),
})
export type AuditQuery = v.InferOutput<typeof AuditQuery>
