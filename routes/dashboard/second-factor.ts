import { RECOVERY_CODES } from '../../lib/accounts/kept-answers.ts'
import {
  OfferedSecret,
  RecoveryCodes,
  SecondFactorPage,
  type SecondFactorProps,
} from '../../pages/dashboard/account/second-factor.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import { readForm } from './request/form.ts'
import { catchErrors, formRoutes } from './request/form-routes.ts'
import { toRefusal } from './request/problem.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

const PATH = '/app/account/second-factor'
const CODES_FIELDS = { password: 'codesPassword', code: 'codesCode' }
const OFF_FIELDS = { password: 'offPassword', code: 'offCode' }

type Shown = Pick<SecondFactorProps, 'error' | 'problem'>

export const secondFactorRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showFactor(visit) },
  { method: 'post', path: PATH, answer: catchErrors(showFactor, offer, { password: 'password' }) },
  { method: 'post', path: `${PATH}/confirm`, answer: confirm },
  ...formRoutes(PATH, showFactor, { '/recovery-codes': renewCodes }, CODES_FIELDS),
  ...formRoutes(PATH, showFactor, { '/remove': remove }, OFF_FIELDS),
]

async function showFactor(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { instance, callApi } = visit
  const factor = await callApi('getSecondFactor')
  const content = SecondFactorPage({ base: instance.base, factor, ...shown })
  return showPage(visit, { title: 'Second factor', content, status })
}

async function offer(visit: UserVisit): Promise<PageAnswer> {
  const password = (await readForm(visit.c)).exact('password')
  return showOffer(visit, (await visit.callApi('offerSecondFactor', { body: { password } })).uri)
}

/** The form sends the secret along, so that the page can show it again after a wrong code. */
async function confirm(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const uri = form.text('uri')
  const body = { code: form.text('code') }
  try {
    return await showNewCodes(visit, await visit.callApi('confirmSecondFactor', { body }))
  } catch (error) {
    const refused = errorForPage(error)
    const shown = toRefusal(refused, { code: 'code' })
    const isWrongCode = 'problem' in shown
    return isWrongCode
      ? showOffer(visit, uri, shown, refused.status)
      : showFactor(visit, shown, refused.status)
  }
}

async function renewCodes(visit: UserVisit): Promise<PageAnswer> {
  const form = await readForm(visit.c)
  const body = { password: form.exact('codesPassword'), code: form.text('codesCode') }
  return showNewCodes(visit, await visit.callApi('renewRecoveryCodes', { body }))
}

async function showNewCodes(
  visit: UserVisit,
  { recoveryCodes }: { readonly recoveryCodes: readonly string[] },
): Promise<PageAnswer> {
  const content = RecoveryCodes({ base: visit.instance.base, codes: recoveryCodes })
  const page = await showPage(visit, { title: 'Recovery codes', content })
  return { ...page, secretOf: RECOVERY_CODES }
}

async function remove({ callApi, c }: UserVisit) {
  const form = await readForm(c)
  const body = { password: form.exact('offPassword'), code: form.text('offCode') }
  await callApi('removeSecondFactor', { body })
  return '/app/account?done=factor-off' as const
}

function showOffer(
  visit: UserVisit,
  uri: string,
  shown: Shown = {},
  status = 200,
): Promise<PageAnswer> {
  if (!/^otpauth:[!-~]{1,800}$/.test(uri)) return showFactor(visit, shown, status)
  const secret = URL.parse(uri)?.searchParams.get('secret') ?? ''
  const content = OfferedSecret({ base: visit.instance.base, uri, secret, ...shown })
  return showPage(visit, { title: 'Second factor', content, status })
}
