import {
  deleteVitalsAlert,
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
import { takeOrRefuse } from '../../request/limit.ts'
import { readForm } from '../request/form.ts'
import type { UserVisit } from '../request/visit.ts'
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
    await turnMailsOff(db, own, audit)
  }
  return pathOf({ site: name, done: `mails-${state}` })
}

/** Removes the mails that wait, too. */
export function turnMailsOff(
  db: Db,
  own: Pick<VitalsAlert, 'siteId' | 'userId'>,
  audit: Statement,
) {
  const waiting = removeVitalsMails(db, own.userId, own.siteId)
  return runInTransaction(db, [deleteVitalsAlert(db, own), waiting, audit])
}
