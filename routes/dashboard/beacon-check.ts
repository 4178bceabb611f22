import type { Site } from '../../lib/contract/account/account-schemas.ts'
import { formatHour, HOURS_OF_DAY, hourOf } from '../../lib/rum/hour.ts'
import type { BeaconCheck } from '../../pages/dashboard/sites/beacon-state.tsx'
import { errorForPage } from './request/call-api.ts'
import type { UserVisit } from './request/visit.ts'

const CHECKED_DAYS = 90

/** Checks whether the site has sent beacons. */
export async function checkBeacons(visit: UserVisit, site: Site): Promise<BeaconCheck> {
  const to = hourOf(visit.services.now())
  const added = Math.max(hourOf(Date.parse(site.createdAt)), to - CHECKED_DAYS * HOURS_OF_DAY)
  const dayAgo = to - HOURS_OF_DAY
  try {
    const { accepted, bots, lastHour } = await countBeacons(visit, site, Math.max(added, dayAgo))
    if (lastHour !== null) return { state: 'receiving', accepted, bots, lastHour }
    // The page polls new sites, so a new site costs only one API call.
    const isNew = added >= dayAgo
    if (isNew) return { state: 'waiting', bots, isNew }
    const before = await countBeacons(visit, site, added)
    return before.lastHour === null
      ? { state: 'waiting', bots: before.bots, isNew }
      : { state: 'quiet', lastHour: before.lastHour }
  } catch (error) {
    return { state: 'unknown', reason: errorForPage(error).message }
  }
}

async function countBeacons({ callApi }: UserVisit, { name }: Site, from: number) {
  const query = { domain: name, from: formatHour(from) }
  return (await callApi('getRumOverview', { query })).beacons
}
