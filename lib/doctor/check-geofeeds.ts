import { commandText } from '../parts/clone-or-package.ts'
import { DAY_MS } from '../parts/durations.ts'
import { counted } from './check-age.ts'
import { type Finding, ok, warning } from './finding.ts'

/** A geofeed. Times are epoch milliseconds. */
interface Geofeed {
  readonly source: string
  /** When the version in use was last up to date; undefined: there is none. */
  readonly checkedAt?: number | undefined
  readonly entries?: number | undefined
  readonly outside?: number | undefined
  readonly bad?: number | undefined
  readonly examples?: readonly string[] | undefined
  readonly failure?: { readonly reason: string } | undefined
}

/** A server updates them daily. Two failures in a row may be their publisher's fault. */
const OLD_MS = 3 * DAY_MS

/** Checks how old each geofeed is, whether its last update failed, and which lines are ignored. */
export function checkGeofeeds(feeds: readonly Geofeed[], now: number): Finding[] {
  if (feeds.length === 0) {
    return [warning('The geofeeds were never updated', `run: ${commandText('geo', '--download')}`)]
  }
  return feeds.map((feed) => checkGeofeed(feed, now))
}

function checkGeofeed(feed: Geofeed, now: number): Finding {
  const { source, checkedAt, entries = 0, outside = 0, bad = 0, examples = [], failure } = feed
  const days = checkedAt === undefined ? 0 : Math.floor((now - checkedAt) / DAY_MS)
  const age =
    checkedAt === undefined ? 'was never usable' : `was up to date ${counted(days, 'day')} ago`
  const text = `The geofeed ${source} ${age}`
  if (failure !== undefined) {
    const advice = 'its earlier version, if any, stays in use; a server tries again within the hour'
    return warning(`${text}: ${failure.reason}`, advice)
  }
  if (checkedAt === undefined || now - checkedAt > OLD_MS) {
    return warning(text, `run: ${commandText('geo', '--download')}`)
  }
  if (outside + bad === 0) return ok(`${text}, with ${entries} networks`)
  const ignored = `${outside} of its entries are outside its blocks and ${bad} lines are bad`
  return warning(
    `${text}; ${ignored}: ${examples.join('; ')}`,
    'name its missing blocks in MERIDIAN_GEOFEEDS, or ask its publisher to correct it',
  )
}
