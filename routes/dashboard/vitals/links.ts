import * as v from 'valibot'
import {
  deleteSiteLink,
  findSiteLink,
  insertSiteLink,
  LINK_DAYS,
  listSiteLinks,
  MAX_LINKS,
  mintSiteLink,
} from '../../../lib/access/site-links.ts'
import { callerEvent, insertAudit } from '../../../lib/accounts/audit.ts'
import type { Site } from '../../../lib/contract/account/account-schemas.ts'
import type { AuditNote } from '../../../lib/contract/account/audit-actions.ts'
import { SHARED_PATH } from '../../../lib/contract/pages.ts'
import { runInTransaction, type Statement } from '../../../lib/db/transaction.ts'
import { ApiError, fieldError } from '../../../lib/parts/errors.ts'
import type { PageAnswer } from '../../pages/page.ts'
import { takeOrRefuse } from '../../request/limit.ts'
import { redirectTo } from '../request/answer.ts'
import { readForm } from '../request/form.ts'
import { findShown, shownCookie } from '../request/shown-secret.ts'
import type { UserVisit } from '../request/visit.ts'

/** The links of the site, as the page shows them to its owner. */
export async function readLinks(visit: UserVisit, { id: siteId }: Site) {
  const { services, me, c } = visit
  const links = await listSiteLinks(services.db, { userId: me.id, siteId }, services.now())
  const created = links.find(({ id }) => id === c.req.query('created'))
  const token = created && (await findShown(visit, created.id, v.string()))
  return {
    links: links.map(({ id, createdAt, expiresAt }) => ({
      id,
      createdAt: new Date(createdAt).toISOString(),
      expiresAt: new Date(expiresAt).toISOString(),
    })),
    most: MAX_LINKS,
    days: LINK_DAYS,
    created: token ? `${services.baseUrl()}${SHARED_PATH.replace(':token', token)}` : null,
  }
}

/** The site that the query of a form names. It is read from the API, which also verifies the session. */
export async function findOwnSite({ callApi, c }: UserVisit): Promise<Site> {
  const name = c.req.query('site') ?? ''
  if (name === '') throw fieldError('site', 'is missing from the address')
  const site = (await callApi('listSites')).find((own) => own.name === name)
  if (site === undefined) throw new ApiError('NOT_FOUND', `${name} is not one of your sites`)
  return site
}

/** Makes a link. Redirects to the page with it, so that reloading makes no other one. */
export async function createLink(visit: UserVisit): Promise<PageAnswer> {
  const { services, me, c } = visit
  const { db } = services
  const { id: siteId, name } = await findOwnSite(visit)
  const chosen = (await readForm(c)).text('days')
  const days = LINK_DAYS.find((count) => String(count) === chosen)
  if (days === undefined) throw fieldError('days', `must be one of ${LINK_DAYS.join(', ')}`)
  takeOrRefuse(services, 'vitalsChanges', me.id)
  const now = services.now()
  const { link, token } = mintSiteLink({ userId: me.id, siteId, days, now })
  const detail = `${name}, for ${days} days`
  const isMade = await runInTransaction(db, [
    insertSiteLink(db, link),
    auditOf(visit, { action: 'create_link', targetType: 'site', targetId: siteId, detail }),
  ])
  if (!isMade) {
    throw new ApiError('FORBIDDEN', `${name} has ${MAX_LINKS} links already; revoke one first`)
  }
  const cookie = await shownCookie(visit, link.id, token)
  const page = redirectTo(visit, pathOf({ site: name, created: link.id }, 'share'), [cookie])
  return { ...page, secretOf: link.id }
}

/** Revokes a link of the user. */
export async function revokeLink(visit: UserVisit): Promise<`/app${string}`> {
  const { services, me, c } = visit
  const { db } = services
  const { name } = await findOwnSite(visit)
  const link = await findSiteLink(db, me.id, c.req.param('id') ?? '')
  if (link === null) throw new ApiError('NOT_FOUND', 'This link is revoked already')
  await runInTransaction(db, [
    deleteSiteLink(db, me.id, link.id),
    auditOf(visit, {
      action: 'revoke_link',
      targetType: 'site',
      targetId: link.siteId,
      detail: link.site,
    }),
  ])
  return pathOf({ site: name, done: 'revoked' })
}

/** The page with a query, and the part of it to show. */
export function pathOf(query: Record<string, string>, id?: string): `/app${string}` {
  const fragment = id === undefined ? '' : `#${id}`
  return `/app/vitals?${new URLSearchParams(query)}${fragment}`
}

/** The audit row of a change that the user makes on the page. */
export function auditOf({ services, me }: UserVisit, note: AuditNote): Statement {
  const actor = { app: 'dashboard', userId: me.id, label: me.email } as const
  return insertAudit(services.db, callerEvent(actor, note, services.now()))
}
