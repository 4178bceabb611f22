import type { AuditEvent } from '../../lib/accounts/audit.ts'
import { addSite, listSites, newSite, type SiteRow } from '../../lib/accounts/sites.ts'
import type { Accounts } from '../accounts.ts'
import { userWithPlan } from '../user-with-plan.ts'

/** The site of the user, both made if new. Throws where the plan allows no further site. */
export async function demoSite(
  accounts: Accounts,
  { site: name, email }: { readonly site: string; readonly email: string },
): Promise<SiteRow> {
  const { db, now, command } = accounts
  const { user, plan } = await userWithPlan(accounts, { email })
  const known = (await listSites(db, user.id)).find((site) => site.name === name)
  if (known !== undefined) return known
  const site = newSite({ userId: user.id, name, now })
  const event: AuditEvent = {
    app: 'cli',
    actorId: user.id,
    actorLabel: command,
    action: 'create_site',
    targetType: 'site',
    targetId: site.id,
    detail: name,
    createdAt: now,
  }
  if ((await addSite(db, site, plan.maxSites, event)) === 'added') return site
  throw new Error(
    `Cannot add ${name}: ${email} has the ${plan.maxSites} sites that the plan ${plan.id} allows`,
  )
}
