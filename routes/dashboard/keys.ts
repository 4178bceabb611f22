import { listReplacedIds } from '../../lib/access/keys.ts'
import {
  ApiKeyCreated,
  CreateKeyBody,
  RotateKeyBody,
} from '../../lib/contract/account/account-schemas.ts'
import { parse } from '../../lib/parts/parse.ts'
import { Keys, type KeysProps } from '../../pages/dashboard/keys/keys.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { redirectTo, showPage } from './request/answer.ts'
import { errorForPage, orNull } from './request/call-api.ts'
import { type Form, readForm } from './request/form.ts'
import { formRoutes } from './request/form-routes.ts'
import { toRefusal } from './request/problem.ts'
import { findShown, shownCookie } from './request/shown-secret.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

export const keyRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/keys', answer: (visit) => showKeys(visit) },
  { method: 'post', path: '/app/keys', answer: createKey },
  ...formRoutes('/app/keys/:id', showKeys, {
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
      const grace = (await readForm(visit.c)).text(`grace-${keyId}`)
      const body = parse(RotateKeyBody, grace === '' ? {} : { gracePeriodSeconds: Number(grace) })
      return showNew(visit, await visit.callApi('rotateKey', { params: { keyId }, body }))
    },
  }),
]

type Shown = Pick<KeysProps, 'typed' | 'error' | 'problem'>

async function showKeys(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { callApi, instance, services, c } = visit
  const created = await findShown(visit, c.req.query('created') ?? '', ApiKeyCreated)
  // A new key cannot be shown much later, so show it even if the list fails, as over the limit.
  const keys = await callApi('listKeys').catch((error: unknown) => {
    if (created === null) throw error
    return []
  })
  const current = await orNull(callApi('getSubscription', { query: {} }))
  const content = Keys({
    base: instance.base,
    url: services.baseUrl(),
    keys,
    replaced: await listReplacedIds(services.db, visit.me.id),
    created,
    plan: current?.plan ?? null,
    done: c.req.query('done'),
    ...shown,
  })
  return showPage(visit, { title: 'Keys', content, status })
}

/** Redirects to the page with the new key, so that reloading it creates no other key. */
async function showNew(visit: UserVisit, key: ApiKeyCreated): Promise<PageAnswer> {
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
    return await showNew(visit, await callApi('createKey', { body, query }))
  } catch (error) {
    const refused = errorForPage(error)
    return showKeys(visit, { typed, ...toRefusal(refused, FIELDS) }, refused.status)
  }
}

/** The fields of the form, by their names in the API. */
const FIELDS = { name: 'name', allowedOrigins: 'origins', expiresInDays: 'lifetime' }

function readDraft(form: Form) {
  return {
    name: form.text('name'),
    type: form.text('type') === 'publishable' ? 'publishable' : 'secret',
    scopes: form.all('scope'),
    origins: form.text('origins'),
    lifetime: form.text('lifetime'),
  } as const
}

/** A secret key without scopes has full access; a publishable key can only look up addresses. */
function toBody({ name, type, scopes, origins }: ReturnType<typeof readDraft>) {
  return {
    name,
    type,
    ...(type === 'secret' && scopes.length > 0 && { scopes }),
    ...(type === 'publishable' && { allowedOrigins: origins.split(/\s+/).filter(Boolean) }),
  }
}
