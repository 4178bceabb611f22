import {
  OfferedSecret,
  RecoveryCodes,
  SecondFactorPage,
} from '../../pages/dashboard/account/second-factor.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import { readForm } from './request/form.ts'
import { catchErrors, formRoutes } from './request/form-routes.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

const PATH = '/app/account/second-factor'

export const secondFactorRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showFactor(visit) },
  { method: 'post', path: PATH, answer: catchErrors(showFactor, offer) },
  { method: 'post', path: `${PATH}/confirm`, answer: confirm },
  ...formRoutes(PATH, showFactor, {
    '/recovery-codes': async (visit) => {
      const form = await readForm(visit.c)
      const body = { password: form.exact('codesPassword'), code: form.text('codesCode') }
      return showCodes(visit, await visit.callApi('renewRecoveryCodes', { body }))
    },
    '/remove': async ({ callApi, c }) => {
      const form = await readForm(c)
      const body = { password: form.exact('offPassword'), code: form.text('offCode') }
      await callApi('removeSecondFactor', { body })
      return '/app/account?done=factor-off'
    },
  }),
]

async function showFactor(
  visit: UserVisit,
  shown: { readonly error?: string } = {},
  status = 200,
): Promise<PageAnswer> {
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
  const body = { code: form.text('code') }
  try {
    return await showCodes(visit, await visit.callApi('confirmSecondFactor', { body }))
  } catch (error) {
    const { message, status } = errorForPage(error)
    return showOffer(visit, form.text('uri'), { error: message }, status)
  }
}

function showOffer(
  visit: UserVisit,
  uri: string,
  shown: { readonly error?: string } = {},
  status = 200,
): Promise<PageAnswer> {
  if (!/^otpauth:[!-~]{1,800}$/.test(uri)) return showFactor(visit, shown, status)
  const secret = URL.parse(uri)?.searchParams.get('secret') ?? ''
  const content = OfferedSecret({ base: visit.instance.base, uri, secret, ...shown })
  return showPage(visit, { title: 'Second factor', content, status })
}

function showCodes(
  visit: UserVisit,
  { recoveryCodes }: { readonly recoveryCodes: readonly string[] },
): Promise<PageAnswer> {
  const content = RecoveryCodes({ base: visit.instance.base, codes: recoveryCodes })
  return showPage(visit, { title: 'Recovery codes', content })
}
