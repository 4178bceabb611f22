import { replacedAlready } from '../../lib/access/key-rotation.ts'
import { listReplacedIds } from '../../lib/access/keys.ts'
import {
  ApiKeyCreated,
  type ApiKeyInfo,
  CreateKeyBody,
  RotateKeyBody,
} from '../../lib/contract/account/account-schemas.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { parse } from '../../lib/parts/parse.ts'
import { type KeyDraft, NewKey, type NewKeyProps } from '../../pages/dashboard/keys/key-form.tsx'
import { RevokeKey, RotateKey } from '../../pages/dashboard/keys/key-question.tsx'
import {
  CreateLink,
  isReached,
  type KeyLimit,
  Keys,
  type KeysProps,
} from '../../pages/dashboard/keys/keys.tsx'
import { isAccess, PRESETS } from '../../pages/dashboard/keys/permissions.ts'
import type { PageAnswer } from '../pages/page.ts'
import { redirectTo, showPage } from './request/answer.ts'
import { errorForPage, orNull } from './request/call-api.ts'
import { type Form, readForm } from './request/form.ts'
import { catchErrors, formRoutes } from './request/form-routes.ts'
import { toRefusal } from './request/problem.ts'
import { findShown, shownCookie } from './request/shown-secret.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

const KEY = '/app/keys/:id'

export const keyRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/keys', answer: (visit) => showKeys(visit) },
  { method: 'post', path: '/app/keys', answer: createKey },
  { method: 'get', path: '/app/keys/new', answer: (visit) => showNewKey(visit) },
  {
    method: 'get',
    path: `${KEY}/rotate`,
    answer: catchErrors(showKeys, askToRotate),
  },
  {
    method: 'get',
    path: `${KEY}/revoke`,
    answer: catchErrors(showKeys, (visit) => ask(visit, 'Revoke the key?', RevokeKey)),
  },
  ...formRoutes(KEY, showKeys, {
    '/revoke': async ({ callApi, c }) => {
      await callApi('revokeKey', { params: { keyId: c.req.param('id') ?? '' } })
      return '/app/keys?done=revoked'
    },
    '/renew': async ({ callApi, c }) => {
      await callApi('renewKey', { params: { keyId: c.req.param('id') ?? '' } })
      return '/app/keys?done=renewed'
    },
    '/rotate': async (visit) => {
      const keyId = visit.c.req.param('id') ?? ''
      const grace = (await readForm(visit.c)).text('grace')
      const body = parse(RotateKeyBody, grace === '' ? {} : { gracePeriodSeconds: Number(grace) })
      return showCreated(visit, await visit.callApi('rotateKey', { params: { keyId }, body }))
    },
  }),
]

type Shown = Pick<KeysProps, 'error'>

async function showKeys(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { callApi, instance, services, me, c } = visit
  const created = await findShown(visit, c.req.query('created') ?? '', ApiKeyCreated)
  // A new key cannot be shown much later, so show it even if the list fails, as over the limit.
  const keys = await callApi('listKeys').catch((error: unknown) => {
    if (created === null) throw error
    return []
  })
  const { base } = instance
  const replaced = await listReplacedIds(services.db, me.id)
  const limit = await findLimit(visit, keys, replaced)
  const content = Keys({
    base,
    url: services.baseUrl(),
    keys,
    replaced,
    created,
    limit,
    done: c.req.query('done'),
    ...shown,
  })
  // An empty list has the link itself.
  const action = keys.length === 0 || isReached(limit) ? null : CreateLink({ base })
  return showPage(visit, { title: 'Keys', content, action, status })
}

async function findLimit(
  { callApi }: UserVisit,
  keys: readonly ApiKeyInfo[],
  replaced: readonly string[],
): Promise<KeyLimit | null> {
  const current = await orNull(callApi('getSubscription', { query: {} }))
  if (current === null) return null
  const { name, maxKeys } = current.plan
  return { name, maxKeys, used: keys.filter(({ id }) => !replaced.includes(id)).length }
}

async function showNewKey(
  visit: UserVisit,
  shown: Pick<NewKeyProps, 'typed' | 'error' | 'problem'> = {},
  status = 200,
): Promise<PageAnswer> {
  const { callApi, instance, services, me } = visit
  const keys = await orNull(callApi('listKeys'))
  const replaced = await listReplacedIds(services.db, me.id)
  const limit = keys && (await findLimit(visit, keys, replaced))
  const content = NewKey({ base: instance.base, limit, ...shown })
  return showPage(visit, { title: 'Create a key', content, status })
}

async function askToRotate(visit: UserVisit): Promise<PageAnswer> {
  const replaced = await listReplacedIds(visit.services.db, visit.me.id)
  if (replaced.includes(visit.c.req.param('id') ?? '')) throw replacedAlready()
  return ask(visit, 'Rotate the key?', RotateKey)
}

/** Asks before something is done to the key. */
async function ask(visit: UserVisit, title: string, question: typeof RotateKey) {
  const { callApi, instance, c } = visit
  const apiKey = (await callApi('listKeys')).find(({ id }) => id === c.req.param('id'))
  if (apiKey === undefined) {
    throw new ApiError('NOT_FOUND', 'Key not found; it may have been revoked already')
  }
  return showPage(visit, { title, content: question({ base: instance.base, apiKey }) })
}

/** Redirects to the page with the new key, so that reloading it creates no other key. */
async function showCreated(visit: UserVisit, key: ApiKeyCreated): Promise<PageAnswer> {
  // The page does not show the origins of the new key, and a cookie has no space for many.
  const cookie = await shownCookie(visit, key.id, { ...key, allowedOrigins: [] })
  const page = redirectTo(visit, `/app/keys?${new URLSearchParams({ created: key.id })}`, [cookie])
  return { ...page, secretOf: key.id }
}

async function createKey(visit: UserVisit): Promise<PageAnswer> {
  const { callApi, c } = visit
  const typed = readDraft(await readForm(c))
  try {
    const body = parse(CreateKeyBody, toBody(typed))
    const query = typed.lifetime === '' ? {} : { expiresInDays: typed.lifetime }
    return await showCreated(visit, await callApi('createKey', { body, query }))
  } catch (error) {
    const refused = errorForPage(error)
    return showNewKey(visit, { typed, ...toRefusal(refused, FIELDS) }, refused.status)
  }
}

/** The fields of the form, by their names in the API. */
const FIELDS = {
  name: 'name',
  scopes: 'scope',
  allowedOrigins: 'origins',
  expiresInDays: 'lifetime',
}

function readDraft(form: Form): KeyDraft {
  const access = form.text('access')
  return {
    name: form.text('name'),
    type: form.text('type') === 'publishable' ? 'publishable' : 'secret',
    access: isAccess(access) ? access : 'look-ups',
    scopes: form.all('scope'),
    origins: form.text('origins'),
    lifetime: form.text('lifetime'),
  }
}

function toBody({ name, type, access, scopes, origins }: KeyDraft) {
  if (type === 'publishable') {
    return { name, type, allowedOrigins: origins.split(/\s+/).filter(Boolean) }
  }
  return { name, type, scopes: access === 'custom' ? scopes : PRESETS[access].scopes }
}
