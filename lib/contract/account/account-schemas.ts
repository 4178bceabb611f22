import * as v from 'valibot'
import { DAY_MS, SECOND_MS } from '../../parts/durations.ts'
import {
  Count,
  object,
  pageOf,
  singleLine,
  strictObject,
  Timestamp,
  textUpTo,
  UrlText,
} from '../common.ts'
import { SCOPES } from '../operation.ts'

const KEY_TYPES = ['secret', 'publishable'] as const
export type KeyType = (typeof KEY_TYPES)[number]

const KeyPrefix = v.pipe(v.string(), v.description('The first 16 characters of the key'))

export const KeyId = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{32}$/),
  v.description('A hash that identifies the key in paths'),
)

const LastUsedAt = v.nullable(v.pipe(Timestamp, v.description('Exact to a minute')))

export const SiteId = v.pipe(v.string(), v.uuid())

const keyEntries = {
  id: KeyId,
  prefix: KeyPrefix,
  name: v.string(),
  type: v.picklist(KEY_TYPES),
  scopes: v.pipe(
    v.nullable(v.array(v.picklist(SCOPES))),
    v.description('What the key may do; null means full access'),
  ),
}

export const UserProfile = strictObject('The profile of the caller', {
  id: v.string(),
  name: v.nullable(v.string()),
  email: v.nullable(v.string()),
  emailVerified: v.boolean(),
  createdAt: v.nullable(Timestamp),
})
export type UserProfile = v.InferOutput<typeof UserProfile>

export const ApiKeyInfo = strictObject('Metadata of a key; the key itself cannot be read again', {
  ...keyEntries,
  allowedOrigins: v.nullable(v.array(v.string())),
  isActive: v.boolean(),
  createdAt: Timestamp,
  lastUsedAt: LastUsedAt,
  expiresAt: v.nullable(Timestamp),
})
export type ApiKeyInfo = v.InferOutput<typeof ApiKeyInfo>

export const ApiKeyCreated = strictObject('A new key; its text is shown only here', {
  rawKey: v.pipe(v.string(), v.description('The full key; shown only here')),
  ...keyEntries,
  allowedOrigins: v.optional(v.nullable(v.array(v.string()))),
})
export type ApiKeyCreated = v.InferOutput<typeof ApiKeyCreated>

export const Site = strictObject('An origin whose pages may send beacons', {
  id: SiteId,
  name: v.pipe(UrlText, v.description('An origin, such as https://shop.example')),
  userId: v.string(),
  createdAt: Timestamp,
})
export type Site = v.InferOutput<typeof Site>

export const AuditLogEntry = strictObject('One audit entry: who did what, to what, and when', {
  id: v.pipe(v.number(), v.integer()),
  app: v.pipe(v.string(), v.description('Where the change came from: api, dashboard, cli, stripe')),
  actor_id: v.string(),
  actor_label: v.nullable(v.string()),
  action: v.pipe(v.string(), v.description('What was done, such as create_key')),
  target_type: v.pipe(v.nullable(v.string()), v.description('Such as api_key')),
  target_id: v.nullable(v.string()),
  detail: v.nullable(v.string()),
  created_at: v.pipe(v.number(), v.integer(), v.description('Unix epoch seconds')),
})
export type AuditLogEntry = v.InferOutput<typeof AuditLogEntry>

export const AuditList = strictObject('One page of the audit log', {
  logs: v.pipe(v.array(AuditLogEntry), v.description('Newest first')),
  total: v.pipe(Count, v.description('The number of matching entries on all pages')),
  limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)),
  offset: Count,
})
export type AuditList = v.InferOutput<typeof AuditList>

export const UsageStats = strictObject('Usage of the caller in the current period', {
  totalKeys: Count,
  activeKeys: Count,
  totalRequests: v.pipe(Count, v.description('Counted requests of the current period')),
  monthlyCap: v.pipe(v.nullable(Count), v.description('Null when overages are enabled')),
  dailyUsage: v.pipe(
    v.array(v.strictObject({ date: v.pipe(v.string(), v.isoDate()), requests: Count })),
    v.description('The last 30 days, UTC, oldest first'),
  ),
  keys: v.array(
    v.strictObject({
      keyPrefix: KeyPrefix,
      keyName: v.string(),
      isActive: v.boolean(),
      lastUsedAt: LastUsedAt,
      rateLimitRemaining: v.pipe(Count, v.description('Requests that the key may send now')),
      rateLimitMax: v.pipe(Count, v.description('Requests per minute that the plan allows')),
    }),
  ),
})
export type UsageStats = v.InferOutput<typeof UsageStats>

export const DeletedResponse = strictObject('Confirms a permanent deletion', {
  deleted: v.boolean(),
})
export const KeyRenewed = strictObject('Confirms that the expiry of a key was reset', {
  status: v.literal('renewed'),
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
  type: v.optional(v.picklist(KEY_TYPES), 'secret'),
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
        'For publishable keys: exact origins, or patterns such as https://*.shop.example',
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

const profile = {
  id: 'usr_example',
  name: 'Ada Example',
  email: 'ada@shop.example',
  emailVerified: true,
  createdAt: '2026-01-15T12:00:00.000Z',
} as const satisfies UserProfile

const key = {
  id: '00112233445566778899aabbccddeeff',
  prefix: `sk_live_${'0'.repeat(8)}`,
  name: 'Production server',
  type: 'secret',
  scopes: null,
} as const

const keyInfo = {
  ...key,
  allowedOrigins: null,
  isActive: true,
  createdAt: '2026-01-15T12:00:00.000Z',
  lastUsedAt: '2026-01-15T12:00:00.000Z',
  expiresAt: '2027-01-15T12:00:00.000Z',
} as const satisfies ApiKeyInfo

const createdKey = { rawKey: `sk_live_${'0'.repeat(64)}`, ...key } as const satisfies ApiKeyCreated

const site = {
  id: '2f0c9a54-8d2e-4c58-9f5a-3c1b7f6e4d20',
  name: 'https://shop.example',
  userId: profile.id,
  createdAt: '2026-01-15T12:00:00.000Z',
} as const satisfies Site

const usage = {
  totalKeys: 1,
  activeKeys: 1,
  totalRequests: 42,
  monthlyCap: 5000,
  dailyUsage: [{ date: '2026-01-15', requests: 42 }],
  keys: [
    {
      keyPrefix: key.prefix,
      keyName: key.name,
      isActive: true,
      lastUsedAt: '2026-01-15T12:00:00.000Z',
      rateLimitRemaining: 9,
      rateLimitMax: 10,
    },
  ],
} satisfies UsageStats

const audit = {
  logs: [
    {
      id: 1,
      app: 'api',
      actor_id: profile.id,
      actor_label: profile.email,
      action: 'create_key',
      target_type: 'api_key',
      target_id: key.id,
      detail: null,
      created_at: 1_768_478_400,
    },
  ],
  total: 1,
  limit: 50,
  offset: 0,
} satisfies AuditList

export const examples = { profile, key, keyInfo, createdKey, site, usage, audit } as const
