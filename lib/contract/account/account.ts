import * as v from 'valibot'
import { created, type Operation, ok } from '../operation.ts'
import { examples } from './account-examples.ts'
import {
  ApiKeyCreated,
  ApiKeyInfo,
  AuditList,
  AuditQuery,
  CreateKeyBody,
  CreateKeyQuery,
  CreateSiteBody,
  DeletedResponse,
  KeyId,
  KeyRenewed,
  RotateKeyBody,
  Site,
  SiteId,
  UsageStats,
  UserProfile,
} from './account-schemas.ts'
import { SiteProof, siteProofExample } from './site-proof.ts'
import { USAGE_KEPT_DAYS, UsageDetailsQuery, usageDetailsReplies } from './usage-details.ts'

const keyId = {
  keyId: { description: 'The id of the key', example: examples.key.id, schema: KeyId },
} as const
const siteId = {
  siteId: { description: 'The id of the site', example: examples.site.id, schema: SiteId },
} as const

const read = { tag: 'Account', access: 'account:read', limit: 'account' } as const
const write = { tag: 'Account', access: 'account:write', limit: 'account' } as const
const ANY_KEY = 'A key may do so with all keys of its user, also those that may do more.'

export const accountOperations = [
  {
    id: 'getProfile',
    method: 'get',
    path: '/v1/account/me',
    ...read,
    summary: 'Profile of the caller',
    replies: ok('The profile', UserProfile, examples.profile),
  },
  {
    id: 'listKeys',
    method: 'get',
    path: '/v1/account/me/keys',
    ...read,
    summary: 'List the keys of the caller, without their secret text',
    replies: ok('All keys', v.array(ApiKeyInfo), [examples.keyInfo]),
  },
  {
    id: 'createKey',
    method: 'post',
    path: '/v1/account/me/keys',
    ...write,
    summary: 'Create a key',
    successLimit: 'newKeys',
    description:
      'Each user may create, renew or rotate 30 an hour. A key can only create keys with scopes that it has itself; only full access can create full access.',
    query: CreateKeyQuery,
    takesIdempotencyKey: true,
    body: {
      schema: CreateKeyBody,
      example: { name: examples.key.name, type: 'secret' },
      otherExamples: {
        'A secret key only for look-ups': { name: 'Log analysis', scopes: ['geo:read'] },
        'A publishable key': {
          name: 'Shop front',
          type: 'publishable',
          allowedOrigins: ['https://shop.example', 'https://*.shop.example'],
        },
      },
    },
    replies: created('The key', ApiKeyCreated, examples.createdKey, {
      revokeKey: { keyId: 'id' },
      renewKey: { keyId: 'id' },
      rotateKey: { keyId: 'id' },
    }),
    errors: ['KEY_LIMIT_REACHED', 'EMAIL_NOT_VERIFIED'],
  },
  {
    id: 'revokeKey',
    method: 'delete',
    path: '/v1/account/me/keys/{keyId}',
    ...write,
    summary: 'Revoke a key for good',
    description: ANY_KEY,
    params: keyId,
    replies: ok('Revoked', DeletedResponse, { deleted: true }),
    errors: ['NOT_FOUND'],
  },
  {
    id: 'renewKey',
    method: 'post',
    path: '/v1/account/me/keys/{keyId}/renew',
    ...write,
    summary: 'Reset the expiry of a key',
    description: `Each user may create, renew or rotate 30 an hour. A replaced key is refused. ${ANY_KEY}`,
    successLimit: 'newKeys',
    takesIdempotencyKey: true,
    params: keyId,
    replies: ok('Renewed', KeyRenewed, { status: 'renewed' }),
    errors: ['NOT_FOUND', 'BAD_REQUEST'],
  },
  {
    id: 'rotateKey',
    method: 'post',
    path: '/v1/account/me/keys/{keyId}/rotate',
    ...write,
    summary: 'Replace a key by a new one that may do the same',
    description:
      'The new key has the name, type, permissions and origins of the old one. The old one goes on working for the grace period, beside the keys that the plan allows. Expired and replaced keys are refused, and so is a caller that lacks permissions of the key. Each user may create, renew or rotate 30 an hour.',
    successLimit: 'newKeys',
    takesIdempotencyKey: true,
    params: keyId,
    body: { schema: RotateKeyBody, isOptional: true, example: { gracePeriodSeconds: 3600 } },
    replies: created('The new key', ApiKeyCreated, examples.createdKey, {
      revokeKey: { keyId: 'id' },
      renewKey: { keyId: 'id' },
    }),
    errors: ['NOT_FOUND', 'KEY_LIMIT_REACHED', 'EMAIL_NOT_VERIFIED'],
  },
  {
    id: 'getUsage',
    method: 'get',
    path: '/v1/account/me/usage',
    ...read,
    summary: 'Usage of the caller',
    replies: ok('The usage', UsageStats, examples.usage),
  },
  {
    id: 'getUsageDetails',
    method: 'get',
    path: '/v1/account/me/usage/details',
    ...read,
    summary: 'Requests of the caller by day, key, operation and status',
    description: `Counts every answer to a key or session of the user, refusals included, but not what the dashboard reads to show its pages. Counts are written once a second, and kept for ${USAGE_KEPT_DAYS} days.`,
    query: UsageDetailsQuery,
    replies: usageDetailsReplies,
  },
  {
    id: 'listSites',
    method: 'get',
    path: '/v1/account/me/sites',
    ...read,
    summary: 'List the sites of the caller',
    replies: ok('All sites', v.array(Site), [examples.site]),
  },
  {
    id: 'createSite',
    method: 'post',
    path: '/v1/account/me/sites',
    ...write,
    summary: 'Register a site',
    description: 'Each user may register 30 an hour.',
    successLimit: 'newSites',
    takesIdempotencyKey: true,
    body: { schema: CreateSiteBody, example: { name: examples.site.name } },
    replies: created('The site', Site, examples.site, {
      getSiteProof: { siteId: 'id' },
      checkSiteProof: { siteId: 'id' },
      deleteSite: { siteId: 'id' },
      getRumSummary: { domain: 'name' },
      getRumOverview: { domain: 'name' },
    }),
    errors: ['SITE_LIMIT_REACHED', 'SITE_EXISTS', 'EMAIL_NOT_VERIFIED'],
  },
  {
    id: 'deleteSite',
    method: 'delete',
    path: '/v1/account/me/sites/{siteId}',
    ...write,
    summary: 'Remove a site',
    params: siteId,
    replies: { 204: { description: 'Removed', schema: null } },
    errors: ['NOT_FOUND'],
  },
  {
    id: 'getSiteProof',
    method: 'get',
    path: '/v1/account/me/sites/{siteId}/proof',
    ...read,
    summary: 'Who gets the telemetry of a site, and the DNS record that proves its domain',
    params: siteId,
    replies: ok('The proof', SiteProof, siteProofExample),
    errors: ['NOT_FOUND'],
  },
  {
    id: 'checkSiteProof',
    method: 'post',
    path: '/v1/account/me/sites/{siteId}/proof',
    ...write,
    summary: 'Look for the DNS record of a site now',
    description:
      'If the DNS gives no answer, nothing changes and the answer is 503 `SERVICE_UNAVAILABLE`.',
    params: siteId,
    replies: ok('The proof after the check', SiteProof, siteProofExample),
    errors: ['NOT_FOUND', 'BAD_REQUEST'],
  },
  {
    id: 'listAuditLog',
    method: 'get',
    path: '/v1/account/me/audit',
    ...read,
    summary: 'List who changed what, and when',
    query: AuditQuery,
    replies: ok('One page', AuditList, examples.audit),
    // As in the published contract; the check of the scope answers first.
    errors: ['ORIGIN_NOT_ALLOWED'],
  },
] as const satisfies readonly Operation[]
