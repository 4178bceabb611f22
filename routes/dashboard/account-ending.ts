import type { PageAnswer } from '../pages/page.ts'
import { toReplyAnswer } from '../request/serve.ts'
import { showAccount } from './account.ts'
import { redirectTo } from './request/answer.ts'
import { getOperation } from './request/call-api.ts'
import { expiredCookie } from './request/cookies.ts'
import { codeIn, readForm } from './request/form.ts'
import { catchErrors, formRoutes } from './request/form-routes.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

const DELETE_FIELDS = { email: 'deleteEmail', password: 'deletePassword', code: 'deleteCode' }

export const accountEndingRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/account/export', answer: catchErrors(showAccount, exportAccount) },
  ...formRoutes('/app/account', showAccount, { '/delete': deleteAccount }, DELETE_FIELDS),
]

async function exportAccount(visit: UserVisit): Promise<PageAnswer> {
  const { session, c } = visit
  const call = session.open(getOperation('exportAccount'))
  const { file = '', headers } = toReplyAnswer(
    call,
    await session.perform(call, { isHead: c.req.method === 'HEAD' }),
  )
  const disposition = headers['content-disposition'] ?? 'attachment'
  const type = headers['content-type'] ?? 'application/octet-stream'
  return { status: 200, file, type, headers: { 'content-disposition': disposition } }
}

async function deleteAccount(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const password = form.exact('deletePassword')
  const body = { email: form.text('deleteEmail'), password, ...codeIn(form, 'deleteCode') }
  await visit.callApi('deleteAccount', { body })
  return redirectTo(visit, '/app/sign-in?done=deleted', [expiredCookie(visit.services)])
}
