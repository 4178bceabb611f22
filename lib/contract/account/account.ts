import * as v from 'valibot'
import {
  ApiKeyCreated,
  ApiKeyInfo,
  AuditList,
  AuditQuery,
  CreateKeyBody,
  CreateSiteBody,
  DeletedResponse,
  examples,
  KeyId,
  KeyRenewed,
  Site,
  SiteId,
  UsageStats,
  UserProfile,
} from './account-schemas.ts'
import type { Operation } from './operation.ts'

const keyId = {
  keyId: { description: 'The id of the key', example: examples.key.id, schema: KeyId },
} as const
const siteId = {
  siteId: { description: 'The id of the site', example: examples.site.id, schema: SiteId },
} as const

const read = { tag: 'Account', access: 'account:read', limit: 'account' } as const
const write = { tag: 'Account', access: 'account:write', limit: 'account' } as const

export const accountOperations = [
  {
    id: 'getProfile',
    method: 'get',
    path: '/v1/account/me',
    ...read,
    summary: 'Profile of the caller',
    replies: {
      200: { description: 'The profile', schema: UserProfile, example: examples.profile },
    },
  },
  {
    id: 'listKeys',
    method: 'get',
    path: '/v1/account/me/keys',
    ...read,
    summary: 'List the keys of the caller, without their texts',
    replies: {
      200: { description: 'All keys', schema: v.array(ApiKeyInfo), example: [examples.keyInfo] },
    },
  },
  {
    id: 'createKey',
    method: 'post',
    path: '/v1/account/me/keys',
    ...write,
    summary: 'Create a key',
    description:
      'A key creates only keys whose scopes are within its own; full access is handed on by full access alone.',
    body: {
      schema: CreateKeyBody,
      example: { name: examples.key.name, type: 'secret' },
      otherExamples: {
        'A secret key for look-ups alone': { name: 'Log analysis', scopes: ['geo:read'] },
        'A publishable key': {
          name: 'Shop front',
          type: 'publishable',
          allowedOrigins: ['https://shop.example', 'https://*.shop.example'],
        },
      },
    },
    replies: {
      201: {
        description: 'The key',
        schema: ApiKeyCreated,
        example: examples.createdKey,
        links: { revokeKey: { keyId: 'id' }, renewKey: { keyId: 'id' } },
      },
    },
    errors: ['KEY_LIMIT_REACHED'],
  },
  {
    id: 'revokeKey',
    method: 'delete',
    path: '/v1/account/me/keys/{keyId}',
    ...write,
    summary: 'Revoke a key for good',
    params: keyId,
    replies: {
      200: { description: 'Revoked', schema: DeletedResponse, example: { deleted: true } },
    },
    errors: ['NOT_FOUND'],
  },
  {
    id: 'renewKey',
    method: 'post',
    path: '/v1/account/me/keys/{keyId}/renew',
    ...write,
    summary: 'Reset the expiry of a key',
    params: keyId,
    replies: {
      200: { description: 'Renewed', schema: KeyRenewed, example: { status: 'renewed' } },
    },
    errors: ['NOT_FOUND'],
  },
  {
    id: 'getUsage',
    method: 'get',
    path: '/v1/account/me/usage',
    ...read,
    summary: 'Usage of the caller',
    replies: { 200: { description: 'The usage', schema: UsageStats, example: examples.usage } },
  },
  {
    id: 'listSites',
    method: 'get',
    path: '/v1/account/me/sites',
    ...read,
    summary: 'List the sites of the caller',
    replies: { 200: { description: 'All sites', schema: v.array(Site), example: [examples.site] } },
  },
  {
    id: 'createSite',
    method: 'post',
    path: '/v1/account/me/sites',
    ...write,
    summary: 'Register a site',
    body: { schema: CreateSiteBody, example: { name: examples.site.name } },
    replies: {
      201: {
        description: 'The site',
        schema: Site,
        example: examples.site,
        links: {
          deleteSite: { siteId: 'id' },
          getRumSummary: { domain: 'name' },
          getRumOverview: { domain: 'name' },
        },
      },
    },
    errors: ['SITE_LIMIT_REACHED', 'SITE_EXISTS'],
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
    id: 'listAuditLog',
    method: 'get',
    path: '/v1/account/me/audit',
    ...read,
    summary: 'What was changed, by whom and when',
    query: AuditQuery,
    replies: { 200: { description: 'One page', schema: AuditList, example: examples.audit } },
    errors: ['ORIGIN_NOT_ALLOWED'],
  },
] as const satisfies readonly Operation[]
