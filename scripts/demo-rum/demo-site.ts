import { addSite, listSites, newSite, type SiteRow } from '../../lib/accounts/sites.ts'
import { type Accounts, auditEvent, planInEffect } from '../parts/accounts.ts'
import { userWithPlan } from '../parts/user-with-plan.ts'

/** Finds or adds the user and the site. Throws if the plan allows no further site. */
export async function demoSite(
  accounts: Accounts,
  { site: name, email, baseUrl }: Readonly<Record<'site' | 'email' | 'baseUrl', string>>,
): Promise<SiteRow> {
  const { db, now } = accounts
  const { user } = await userWithPlan(accounts, { email })
  const plan = await planInEffect(accounts, user.id)
  const known = (await listSites(db, user.id)).find((site) => site.name === name)
  if (known !== undefined) return known
  const site = newSite({ userId: user.id, name, now })
  const target = { targetType: 'site', targetId: site.id, detail: name }
  const event = auditEvent(accounts, user.id, { action: 'create_site', ...target })
  if ((await addSite(db, site, plan.maxSites, { event, baseUrl })) === 'added') return site
  throw new Error(
    `Cannot add ${name}: ${email} has the ${plan.maxSites} sites that the plan ${plan.id} allows`,
  )
}
