import { CreateKeyBody } from '../../lib/contract/account-schemas.ts'
import type { ApiError } from '../../lib/errors.ts'
import { parse } from '../../lib/parse.ts'
import { Keys, type KeysProps } from '../../pages/dashboard/keys.tsx'
import type { PageAnswer } from '../page.ts'
import { leadTo, showPage } from './answer.ts'
import { refusalOf } from './ask.ts'
import { type Form, readForm } from './form.ts'
import type { AppRoute, UserVisit } from './visit.ts'

export const keyRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/keys', answer: (visit) => showKeys(visit) },
  { method: 'post', path: '/app/keys', answer: createKey },
  { method: 'post', path: '/app/keys/:id/revoke', answer: revokeKey },
  { method: 'post', path: '/app/keys/:id/renew', answer: renewKey },
]

type Shown = Pick<KeysProps, 'created' | 'typed' | 'trouble'>

async function showKeys(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { ask, instance, c } = visit
  const keys = await ask('listKeys')
  const done = c.req.query('done')
  const content = Keys({ base: instance.base, keys, done, ...shown })
  return showPage(visit, { title: 'Keys', content, status })
}

/** The text of the key is on this one page alone, so it does not lead on to another. */
async function createKey(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const typed = readWish(form)
  try {
    const body = parse(CreateKeyBody, toBody(typed))
    return await showKeys(visit, { created: await visit.ask('createKey', { body }) }, 201)
  } catch (error) {
    return refuse(visit, refusalOf(error), { typed })
  }
}

async function revokeKey(visit: UserVisit): Promise<PageAnswer> {
  try {
    await visit.ask('revokeKey', { params: { keyId: visit.c.req.param('id') ?? '' } })
    return leadTo(visit, '/app/keys?done=revoked')
  } catch (error) {
    return refuse(visit, refusalOf(error))
  }
}

async function renewKey(visit: UserVisit): Promise<PageAnswer> {
  try {
    await visit.ask('renewKey', { params: { keyId: visit.c.req.param('id') ?? '' } })
    return leadTo(visit, '/app/keys?done=renewed')
  } catch (error) {
    return refuse(visit, refusalOf(error))
  }
}

function refuse(visit: UserVisit, { message, status }: ApiError, shown: Shown = {}) {
  return showKeys(visit, { ...shown, trouble: message }, status)
}

function readWish(form: Form) {
  return {
    name: form.text('name'),
    type: form.text('type') === 'publishable' ? 'publishable' : 'secret',
    scopes: form.all('scope'),
    origins: form.text('origins'),
  } as const
}

/** A secret key with no scope ticked has full access, a publishable one is for look-ups. */
function toBody({ name, type, scopes, origins }: ReturnType<typeof readWish>) {
  return {
    name,
    type,
    ...(type === 'secret' && scopes.length > 0 && { scopes }),
    ...(type === 'publishable' && { allowedOrigins: origins.split(/\s+/).filter(Boolean) }),
  }
}
