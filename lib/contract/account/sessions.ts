import * as v from 'valibot'
import { count, flag, strictObject, Timestamp, text } from '../common.ts'
import { type Operation, ok } from '../operation.ts'

export const SessionInfo = strictObject('A session of the caller', {
  id: text('Identifies the session in paths'),
  isCurrent: flag('Whether this request uses it'),
  app: v.pipe(v.picklist(['api', 'dashboard']), v.description('Where it was started')),
  userAgent: v.nullable(text('The program that started it; null: unknown')),
  address: v.nullable(text('IP address of the client that started it; null: unknown')),
  createdAt: Timestamp,
  lastUsedAt: v.pipe(Timestamp, v.description('Exact to an hour')),
  expiresAt: Timestamp,
})
export type SessionInfo = v.InferOutput<typeof SessionInfo>

const EndedResponse = strictObject('Confirms that sessions have ended', {
  ended: count('How many'),
})

const example = {
  id: '6b9c0a0e-6d0b-4b5c-9b8f-0b4b3f1b7a52',
  isCurrent: true,
  app: 'dashboard',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  address: '198.51.100.7',
  createdAt: '2026-01-15T12:00:00.000Z',
  lastUsedAt: '2026-01-15T12:00:00.000Z',
  expiresAt: '2026-01-22T12:00:00.000Z',
} as const satisfies SessionInfo

const shared = {
  tag: 'Account',
  fullAccess: true,
  limit: 'account',
} as const

export const sessionOperations = [
  {
    id: 'listSessions',
    method: 'get',
    path: '/v1/account/me/sessions',
    access: 'account:read',
    ...shared,
    summary: 'List the sessions of the caller',
    replies: ok('All live sessions, the newest first', v.array(SessionInfo), [example]),
    errors: ['FORBIDDEN'],
  },
  {
    id: 'endOtherSessions',
    method: 'delete',
    path: '/v1/account/me/sessions',
    access: 'account:write',
    ...shared,
    summary: 'End all sessions of the caller except the one of this request',
    replies: ok('Ended', EndedResponse, { ended: 2 }),
    errors: ['FORBIDDEN'],
  },
  {
    id: 'endSession',
    method: 'delete',
    path: '/v1/account/me/sessions/{sessionId}',
    access: 'account:write',
    ...shared,
    summary: 'End a session of the caller',
    params: { sessionId: { description: 'The id of the session', example: example.id } },
    replies: ok('Ended', EndedResponse, { ended: 1 }),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  },
] as const satisfies readonly Operation[]
