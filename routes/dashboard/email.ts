import { ConfirmEmail } from '../../pages/dashboard/account/email.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showAccount } from './account.ts'
import { redirectTo, showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import { deviceCookie } from './request/cookies.ts'
import { codeIn, readForm } from './request/form.ts'
import { catchErrors } from './request/form-routes.ts'
import { toRefusal } from './request/problem.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

/** The fields of the form, by their names in the API. */
const FIELDS = { email: 'newEmail', password: 'emailPassword', code: 'emailCode' }

export const emailRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'post', path: '/app/account/email', answer: changeEmail },
  { method: 'get', path: '/app/account/email', answer: showLink },
  { method: 'post', path: '/app/account/email/confirm', answer: catchErrors(showAccount, confirm) },
]

async function changeEmail(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const email = form.text('newEmail')
  const body = { email, password: form.exact('emailPassword'), ...codeIn(form, 'emailCode') }
  try {
    const { status } = await visit.callApi('changeEmail', { body })
    if (status === 'mailed') return redirectTo(visit, '/app/account?done=mailed')
  } catch (error) {
    const refused = errorForPage(error)
    return showAccount(visit, toRefusal(refused, FIELDS), refused.status)
  }
  return finishChange(visit, email)
}

/** The link in the mail leads here. */
function showLink(visit: UserVisit): Promise<PageAnswer> {
  const { c, instance } = visit
  const { email = '', token = '' } = c.req.query()
  const content = ConfirmEmail({ base: instance.base, email, token })
  return showPage(visit, { title: 'Confirm your new address', content })
}

async function confirm(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const body = { email: form.text('email'), token: form.text('token') }
  await visit.callApi('confirmEmail', { body })
  return finishChange(visit, body.email)
}

/** Browsers are known by e-mail address, so this browser gets a cookie for the new address. */
async function finishChange(visit: UserVisit, email: string): Promise<PageAnswer> {
  return redirectTo(visit, '/app/account?done=email', [await deviceCookie(visit, email)])
}
