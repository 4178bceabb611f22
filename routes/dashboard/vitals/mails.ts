import { insertAudit } from '../../../lib/accounts/audit.ts'
import {
  deleteVitalsAlert,
  findVitalsAlert,
  hasVitalsAlert,
  insertVitalsAlert,
  type VitalsAlert,
} from '../../../lib/accounts/vitals-alerts.ts'
import { removeVitalsMails } from '../../../lib/contact/vitals-mail.ts'
import type { Site } from '../../../lib/contract/account/account-schemas.ts'
import { MIN_VIEWS } from '../../../lib/contract/telemetry/rating.ts'
import type { Db } from '../../../lib/db/open.ts'
import { runInTransaction, type Statement } from '../../../lib/db/transaction.ts'
import { fieldError } from '../../../lib/parts/errors.ts'
import type { PageAnswer } from '../../pages/page.ts'
import { takeOrRefuse } from '../../request/limit.ts'
import { redirectTo, showGuestPage } from '../request/answer.ts'
import { readForm } from '../request/form.ts'
import type { AppRoute, UserVisit, Visit } from '../request/visit.ts'
import { stopIdOf } from '../usage/usage-receiver.ts'
import { auditOf, findOwnSite, pathOf } from './links.ts'

/** Whether the owner of the site gets mails, as the page shows it. */
export async function readMails({ services, me }: UserVisit, { id: siteId }: Site) {
  const { db, mails } = services
  const state = (await hasVitalsAlert(db, { siteId, userId: me.id })) ? 'on' : 'off'
  return { mails: mails.isOn ? state : 'impossible', minViews: MIN_VIEWS } as const
}

/** Turns the mails on or off. What changes nothing is not logged. */
export async function setMails(visit: UserVisit): Promise<`/app${string}`> {
  const { services, me, c } = visit
  const { db } = services
  const { id: siteId, name } = await findOwnSite(visit)
  const state = (await readForm(c)).text('mails')
  if (state !== 'on' && state !== 'off') throw fieldError('mails', 'must be on or off')
  const own = { siteId, userId: me.id }
  const audit = auditOf(visit, {
    action: 'set_vitals_alert',
    targetType: 'site',
    targetId: siteId,
    detail: `${name}: ${state}`,
  })
  if (state === 'on') {
    takeOrRefuse(services, 'vitalsChanges', me.id)
    await runInTransaction(db, [insertVitalsAlert(db, own, services.now()), audit])
  } else {
    await turnOff(db, own, audit)
  }
  return pathOf({ site: name, done: `mails-${state}` })
}

function turnOff(db: Db, own: Pick<VitalsAlert, 'siteId' | 'userId'>, audit: Statement) {
  const waiting = removeVitalsMails(db, own.userId, own.siteId)
  return runInTransaction(db, [deleteVitalsAlert(db, own), waiting, audit])
}

/** The link in the header of the mails: mail programs post to it, and browsers get the page that turns them off. */
export const stopVitalsRoutes: readonly AppRoute<Visit>[] = [
  { method: 'get', path: '/app/vitals-mails/stop', answer: showMails },
  { method: 'post', path: '/app/vitals-mails/stop', answer: stop, isOneClick: true },
]

async function showMails(visit: Visit): Promise<PageAnswer> {
  const alert = await findByLink(visit, visit.c.req.query('id') ?? '')
  return redirectTo(visit, pathOf(alert === null ? {} : { site: alert.site }, 'mails'))
}

async function stop(visit: Visit): Promise<PageAnswer> {
  const { db, now } = visit.services
  const alert = await findByLink(visit, await stopIdOf(visit))
  if (alert !== null) {
    const { siteId, userId, site } = alert
    const audit = insertAudit(db, {
      ...{ app: 'dashboard', actorId: userId, actorLabel: 'link in a mail', createdAt: now() },
      ...{
        action: 'set_vitals_alert',
        targetType: 'site',
        targetId: siteId,
        detail: `${site}: off`,
      },
    })
    await turnOff(db, alert, audit)
  }
  return showGuestPage(visit, {
    title: 'Web vitals',
    content: 'You get none of these mails any more.',
  })
}

/** null if the mails are off, or the id is not in a link of ours. */
async function findByLink({ services: { db, mails } }: Visit, id: string) {
  const [siteId = ''] = id.split('.')
  const alert = await findVitalsAlert(db, siteId)
  return alert !== null && mails.isVitalsStop(id, alert) ? alert : null
}
