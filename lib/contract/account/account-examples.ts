import type {
  ApiKeyCreated,
  ApiKeyInfo,
  AuditList,
  Site,
  UsageStats,
  UserProfile,
} from './account-schemas.ts'

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
      actor_label: key.prefix,
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
