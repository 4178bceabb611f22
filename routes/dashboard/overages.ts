import { moneyText, smallestUnit } from '../../lib/config/money.ts'
import { ApiError, fieldError } from '../../lib/parts/errors.ts'
import { Overages, type OveragesProps, termsOf } from '../../pages/dashboard/billing/overages.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showBilling } from './billing.ts'
import { showPage } from './request/answer.ts'
import { orNull } from './request/call-api.ts'
import { readForm } from './request/form.ts'
import { catchErrors, formRoutes } from './request/form-routes.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

const PAGE = '/app/billing/overages'

export const overageRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PAGE, answer: catchErrors(showBilling, (visit) => showOverages(visit)) },
  ...formRoutes(PAGE, showError, {
    '': async ({ callApi, c }) => {
      const form = await readForm(c)
      const wanted = form.text('overages')
      if (wanted === 'off') {
        await callApi('setOverages', { body: { overagesEnabled: false } })
        return '/app/billing?done=overages-off'
      }
      if (wanted !== 'on') throw new ApiError('BAD_REQUEST', 'Tick the box to agree to the price')
      if (form.text('terms') !== termsOf(await callApi('getOverages'))) {
        throw new ApiError(
          'BAD_REQUEST',
          'The price or the spending cap has changed: read it again',
        )
      }
      await callApi('setOverages', { body: { overagesEnabled: true } })
      return '/app/billing?done=overages-on'
    },
  }),
  ...formRoutes(PAGE, showError, { '/cap': setCap }, { spendingCap: 'amount' }),
]

async function setCap({ callApi, c }: UserVisit) {
  const amount = (await readForm(c)).text('amount')
  const { currency, largestSpendingCap } = await callApi('getOverages')
  const spendingCap = smallestUnit(amount, currency)
  if (spendingCap === null) {
    throw fieldError('spendingCap', 'enter an amount such as 87.00')
  }
  if (spendingCap > largestSpendingCap) {
    const largest = moneyText(largestSpendingCap, currency)
    throw fieldError('spendingCap', `must be at most ${largest}`)
  }
  await callApi('setSpendingCap', { body: { spendingCap } })
  return `${PAGE}?done=cap` as const
}

async function showOverages(
  visit: UserVisit,
  shown: Pick<OveragesProps, 'error' | 'problem'> = {},
  status = 200,
): Promise<PageAnswer> {
  const { callApi, instance, c } = visit
  const overages = await callApi('getOverages')
  const content = Overages({ base: instance.base, overages, done: c.req.query('done'), ...shown })
  return showPage(visit, { title: 'Overages', content, status })
}

/** Shows the error on the page of its form or, if that cannot be shown, on the one before. */
async function showError(
  visit: UserVisit,
  shown: Pick<OveragesProps, 'error' | 'problem'>,
  status: number,
): Promise<PageAnswer> {
  const page = await orNull(showOverages(visit, shown, status))
  return page ?? showBilling(visit, shown, status)
}
