import { insertAudit } from '../../lib/accounts/audit.ts'
import { findVitalsAlert } from '../../lib/accounts/vitals-alerts.ts'
import { namedBy, type StoppableMails } from '../../lib/contact/stop-links.ts'
import { findById, removeReceiver } from '../../lib/contact/usage-receivers.ts'
import { STOP_PATH } from '../../lib/contract/pages.ts'
import type { Services } from '../../lib/services/services.ts'
import { StopMails } from '../../pages/dashboard/account/guest-forms.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showGuestPage } from './request/answer.ts'
import { readForm } from './request/form.ts'
import type { AppRoute, Visit } from './request/visit.ts'
import { eventOf } from './usage/usage-receiver.ts'
import { turnMailsOff } from './vitals/mails.ts'

/** The link in mails that their reader may stop. What it proves stands for a session. */
export const stopMailsRoutes: readonly AppRoute<Visit>[] = [
  { method: 'get', path: STOP_PATH, answer: showForm },
  { method: 'post', path: STOP_PATH, answer: stop, isOneClick: true },
]

interface Stoppable {
  readonly mails: StoppableMails
  /** Who gets which mails, as a sentence. */
  readonly sentence: string
  readonly stop: () => Promise<unknown>
}

/** Opening the link changes nothing, since mail scanners open links too. */
async function showForm(visit: Visit): Promise<PageAnswer> {
  const id = visit.c.req.query('id') ?? ''
  const found = await findByLink(visit, id)
  if (found === null) return showNothingToStop(visit)
  const action = `${visit.instance.base}${STOP_PATH}`
  return show(visit, StopMails({ action, id, sentence: found.sentence }))
}

/** A form of ours has the id in a field, a mail program posts to the link itself. */
async function stop(visit: Visit): Promise<PageAnswer> {
  const { c } = visit
  const found = await findByLink(visit, (await readForm(c)).text('id') || (c.req.query('id') ?? ''))
  if (found === null) return showNothingToStop(visit)
  await found.stop()
  return show(visit, 'You get none of these mails any more.')
}

/** The same for each id that proves nothing, so that nobody learns which receivers and sites there are. */
function showNothingToStop(visit: Visit): Promise<PageAnswer> {
  return show(
    visit,
    'This link stops no mails: they are stopped already, were turned on again after it was sent, or a part of the link is missing.',
  )
}

function show(visit: Visit, content: Parameters<typeof showGuestPage>[1]['content']) {
  return showGuestPage(visit, { title: 'Stop mails', content })
}

const FINDERS: Readonly<
  Record<StoppableMails['kind'], (services: Services, id: string) => Promise<Stoppable | null>>
> = { usage: findUsageMails, vitals: findVitalsMails }

async function findByLink({ services }: Visit, id: string): Promise<Stoppable | null> {
  const named = namedBy(id)
  const found = named && (await FINDERS[named.kind](services, named.id))
  return found && services.stopLinks.isIdOf(id, found.mails) ? found : null
}

async function findUsageMails({ db, now }: Services, id: string): Promise<Stoppable | null> {
  const found = await findById(db, id)
  if (found === null || found.confirmedAt === null) return null
  const { userId, email, account, confirmedAt } = found
  return {
    mails: { kind: 'usage', id, userId, since: confirmedAt },
    sentence: `${email} gets mails about the requests of ${account}.`,
    stop: () => {
      const audit = insertAudit(db, eventOf(found, 'stop_usage_mails', now()))
      return removeReceiver(db, { ...found, now: now() }, audit)
    },
  }
}

async function findVitalsMails({ db, now }: Services, siteId: string): Promise<Stoppable | null> {
  const alert = await findVitalsAlert(db, siteId)
  if (alert === null) return null
  const { userId, site, createdAt } = alert
  return {
    mails: { kind: 'vitals', id: siteId, userId, since: createdAt },
    sentence: `The owner of ${site} gets a mail when a metric of its vitals turns poor.`,
    stop: () => {
      const audit = insertAudit(db, {
        app: 'dashboard',
        actorId: userId,
        actorLabel: 'link in a mail',
        action: 'set_vitals_alert',
        targetType: 'site',
        targetId: siteId,
        detail: `${site}: off`,
        createdAt: now(),
      })
      return turnMailsOff(db, alert, audit)
    },
  }
}
