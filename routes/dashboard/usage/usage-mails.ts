import { fieldError } from '../../../lib/parts/errors.ts'
import type { Problem } from '../../../pages/dashboard/parts/field.tsx'
import { UsageMails } from '../../../pages/dashboard/usage/usage-mails.tsx'
import type { PageAnswer } from '../../pages/page.ts'
import { showPage } from '../request/answer.ts'
import { readForm } from '../request/form.ts'
import { formRoutes } from '../request/form-routes.ts'
import type { AppRoute, UserVisit } from '../request/visit.ts'

const PAGE = '/app/usage/mails'

export const usageMailRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PAGE, answer: (visit) => showMails(visit) },
  ...formRoutes(
    PAGE,
    showRefused,
    {
      '': async ({ callApi, c }) => {
        const thresholds = readThresholds((await readForm(c)).text('thresholds'))
        await callApi('setUsageMails', { body: { thresholds } })
        return `${PAGE}?done=set` as const
      },
      '/receivers': async ({ callApi, c }) => {
        const email = (await readForm(c)).text('email')
        const { confirmed } = await callApi('addUsageReceiver', { body: { email } })
        return confirmed ? PAGE : (`${PAGE}?done=added` as const)
      },
      '/receivers/:id/remove': async ({ callApi, c }) => {
        const receiverId = c.req.param('id') ?? ''
        await callApi('removeUsageReceiver', { params: { receiverId } })
        return `${PAGE}?done=removed` as const
      },
    },
    { thresholds: 'thresholds', email: 'email' },
  ),
]

interface Shown {
  readonly error?: string
  readonly problem?: Problem
  readonly typed?: Readonly<Record<string, string>>
}

async function showMails(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { callApi, instance, services, c } = visit
  const settings = await callApi('getUsageMails')
  const own = { settings, canMail: services.config.smtpUrl !== undefined }
  const content = UsageMails({ base: instance.base, done: c.req.query('done'), ...own, ...shown })
  return showPage(visit, { title: 'Mails about usage', content, status })
}

async function showRefused(visit: UserVisit, shown: Shown, status: number): Promise<PageAnswer> {
  const typed = Object.fromEntries((await readForm(visit.c)).entries())
  return showMails(visit, { ...shown, typed }, status)
}

/** Reads numbers as people write them: `50, 80`, `50 80 %` or `50;80`. */
function readThresholds(text: string): number[] {
  const numbers = text.split(/[\s,;%]+/).filter((part) => part !== '')
  if (numbers.length <= 5 && numbers.every((part) => /^([1-9]\d?|100)$/.test(part))) {
    return numbers.map(Number)
  }
  throw fieldError('thresholds', 'must be at most 5 whole numbers from 1 to 100')
}
