import { type AuditEvent, insertAudit } from '../../../lib/accounts/audit.ts'
import {
  confirmReceiver,
  findByToken,
  type NamedReceiver,
} from '../../../lib/contact/usage-receivers.ts'
import type { AuditAction } from '../../../lib/contract/account/audit-actions.ts'
import { ConfirmReceiver } from '../../../pages/dashboard/usage/usage-mails.tsx'
import type { PageAnswer } from '../../pages/page.ts'
import { showGuestPage } from '../request/answer.ts'
import { readForm } from '../request/form.ts'
import type { AppRoute, Visit } from '../request/visit.ts'

/**
 * For receivers of mails about usage, who need no account: the link in their first mail leads here. The secret in it
 * stands for a session.
 */
export const usageReceiverRoutes: readonly AppRoute<Visit>[] = [
  { method: 'get', path: '/app/usage-mails', answer: showConfirm },
  { method: 'post', path: '/app/usage-mails', answer: confirm },
]

const TITLE = 'Mails about usage'

async function showConfirm(visit: Visit): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const secret = c.req.query('token') ?? ''
  const found = await findByToken(services.db, secret, services.now())
  if (found === null) return showExpired(visit)
  if (found.confirmedAt !== null) return showAgreed(visit, found)
  const content = ConfirmReceiver({ base: instance.base, ...found, secret })
  return showGuestPage(visit, { title: TITLE, content })
}

async function confirm(visit: Visit): Promise<PageAnswer> {
  const { db, now } = visit.services
  const token = (await readForm(visit.c)).text('token')
  const found = await findByToken(db, token, now())
  if (found === null) return showExpired(visit)
  const audit = insertAudit(db, eventOf(found, 'confirm_usage_receiver', now()))
  await confirmReceiver(db, { token, now: now() }, audit)
  return showAgreed(visit, found)
}

function showAgreed(visit: Visit, { email, account }: NamedReceiver): Promise<PageAnswer> {
  const content = `${email} now gets mails about the requests of ${account}. Each of them has a link to stop them.`
  return showGuestPage(visit, { title: TITLE, content })
}

function showExpired(visit: Visit): Promise<PageAnswer> {
  const content =
    'This link does not work any more: it is older than a week, or your address was removed.'
  return showGuestPage(visit, { title: TITLE, content, status: 404 })
}

/** In the log of the user, without the address: the log cannot be changed, and the address is another person's. */
export function eventOf(
  { id, userId }: NamedReceiver,
  action: AuditAction,
  createdAt: number,
): AuditEvent {
  const target = { targetType: 'usage_receiver', targetId: id }
  return { app: 'dashboard', actorId: userId, actorLabel: 'receiver', action, createdAt, ...target }
}
