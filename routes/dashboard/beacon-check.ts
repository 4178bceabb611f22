import type { Site } from '../../lib/contract/account-schemas.ts'
import { formatHour, HOURS_OF_DAY, hourOf } from '../../lib/rum/hour.ts'
import type { BeaconCheck } from '../../pages/dashboard/beacon-state.tsx'
import { refusalOf } from './ask.ts'
import type { UserVisit } from './visit.ts'

const KEPT_DAYS = 90

/** Whether beacons of the site come in. */
export async function checkBeacons(visit: UserVisit, site: Site): Promise<BeaconCheck> {
  const to = hourOf(visit.services.now())
  const added = Math.max(hourOf(Date.parse(site.createdAt)), to - KEPT_DAYS * HOURS_OF_DAY)
  const dayAgo = to - HOURS_OF_DAY
  try {
    const { accepted, bots, lastHour } = await countBeacons(visit, site, Math.max(added, dayAgo))
    if (lastHour !== null) return { state: 'receiving', accepted, lastHour }
    // A new site, for which the page asks again and again, costs one question.
    const isNew = added >= dayAgo
    if (isNew) return { state: 'waiting', bots, isNew }
    const before = await countBeacons(visit, site, added)
    return before.lastHour === null
      ? { state: 'waiting', bots: before.bots, isNew }
      : { state: 'quiet', lastHour: before.lastHour }
  } catch (error) {
    return { state: 'unknown', trouble: refusalOf(error).message }
  }
}

async function countBeacons({ ask }: UserVisit, { name }: Site, from: number) {
  const query = { domain: name, from: formatHour(from) }
  return (await ask('getRumOverview', { query })).beacons
}
