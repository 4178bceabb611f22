import { CreateKeyBody } from '../../lib/contract/account/account-schemas.ts'
import { parse } from '../../lib/parse.ts'
import { Keys, type KeysProps } from '../../pages/dashboard/keys/keys.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import { type Form, readForm } from './request/form.ts'
import { formRoutes } from './request/form-routes.ts'
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
  }),
]

type Shown = Pick<KeysProps, 'created' | 'typed' | 'error'>

async function showKeys(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { callApi, instance, c } = visit
  const { created } = shown
  // A new key cannot be shown later, so show it even if the list fails, as over the limit.
  const keys = await callApi('listKeys').catch((error: unknown) => {
    if (created === undefined) throw error
    return []
  })
  const done = c.req.query('done')
  const content = Keys({ base: instance.base, keys, done, ...shown })
  return showPage(visit, { title: 'Keys', content, status })
}

/** Answers with the page instead of a redirect, because the key is shown only once. */
async function createKey(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const typed = readDraft(form)
  try {
    const body = parse(CreateKeyBody, toBody(typed))
    return await showKeys(visit, { created: await visit.callApi('createKey', { body }) }, 201)
  } catch (error) {
    const { message, status } = errorForPage(error)
    return showKeys(visit, { typed, error: message }, status)
  }
}

function readDraft(form: Form) {
  return {
    name: form.text('name'),
    type: form.text('type') === 'publishable' ? 'publishable' : 'secret',
    scopes: form.all('scope'),
    origins: form.text('origins'),
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
