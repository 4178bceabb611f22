import { CreateSiteBody, type Site } from '../../lib/contract/account/account-schemas.ts'
import { SCRIPT_PATH } from '../../lib/contract/telemetry/script.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { parse } from '../../lib/parts/parse.ts'
import { formatHour, HOURS_OF_DAY, hourOf } from '../../lib/rum/hour.ts'
import type { BeaconCheck } from '../../pages/dashboard/sites/beacon-state.tsx'
import { RemoveSite, Sites, type SitesProps } from '../../pages/dashboard/sites/sites.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { redirectTo, showPage } from './request/answer.ts'
import { errorForPage, orNull } from './request/call-api.ts'
import { readForm } from './request/form.ts'
import { catchErrors, formRoutes } from './request/form-routes.ts'
import { toRefusal } from './request/problem.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

const CHECKED_DAYS = 90
const SITE = '/app/sites/:id'

export const siteRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/sites', answer: (visit) => showSites(visit) },
  { method: 'post', path: '/app/sites', answer: addSite },
  { method: 'get', path: `${SITE}/remove`, answer: catchErrors(showSites, askToRemove) },
  ...formRoutes(SITE, showSites, {
    '/remove': async ({ callApi, c }) => {
      await callApi('deleteSite', { params: { siteId: c.req.param('id') ?? '' } })
      return '/app/sites?done=removed'
    },
    '/proof': checkProof,
  }),
]

type Shown = Pick<SitesProps, 'typed' | 'missed' | 'error' | 'problem'>

async function showSites(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { callApi, instance, services, c } = visit
  const [ownSites, tag, current] = await Promise.all([
    callApi('listSites'),
    callApi('getScriptTag'),
    orNull(callApi('getSubscription', { query: {} })),
  ])
  const sites = await Promise.all(
    ownSites.map(async (site) => {
      const proof = await callApi('getSiteProof', { params: { siteId: site.id } })
      return { site, proof, check: await checkBeacons(visit, site) }
    }),
  )
  const url = services.baseUrl()
  const snippets = {
    newest: `<script defer src="${url}${SCRIPT_PATH}"></script>`,
    pinned: tag.snippet,
  }
  const content = Sites({
    base: instance.base,
    origin: new URL(url).origin,
    sites,
    snippets,
    plan: current?.plan ?? null,
    done: c.req.query('done'),
    ...shown,
  })
  return showPage(visit, { title: 'Sites', content, status })
}

async function addSite(visit: UserVisit): Promise<PageAnswer> {
  const typed = (await readForm(visit.c)).text('name')
  try {
    await visit.callApi('createSite', { body: parse(CreateSiteBody, { name: withScheme(typed) }) })
    return redirectTo(visit, '/app/sites?done=added')
  } catch (error) {
    const refused = errorForPage(error)
    return showSites(visit, { typed, ...toRefusal(refused, { name: 'name' }) }, refused.status)
  }
}

async function askToRemove(visit: UserVisit): Promise<PageAnswer> {
  const { callApi, instance, c } = visit
  const site = (await callApi('listSites')).find(({ id }) => id === c.req.param('id'))
  if (site === undefined) {
    throw new ApiError('NOT_FOUND', 'Site not found; it may have been removed already')
  }
  const content = RemoveSite({ base: instance.base, site })
  return showPage(visit, { title: 'Remove the site?', content })
}

/** People type the address of a site as browsers show it. */
function withScheme(typed: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) || typed === '' ? typed : `https://${typed}`
}

async function checkProof(visit: UserVisit): Promise<PageAnswer | '/app/sites?done=proven'> {
  const siteId = visit.c.req.param('id') ?? ''
  const { state, missingSince } = await visit.callApi('checkSiteProof', { params: { siteId } })
  if (state === 'proven' && missingSince === null) return '/app/sites?done=proven'
  const error = 'The DNS does not show the record. A new one may take up to an hour to appear.'
  return showSites(visit, { error, missed: siteId })
}

/** Checks whether the site has sent beacons. */
async function checkBeacons(visit: UserVisit, site: Site): Promise<BeaconCheck> {
  const to = hourOf(visit.services.now())
  const added = Math.max(hourOf(Date.parse(site.createdAt)), to - CHECKED_DAYS * HOURS_OF_DAY)
  const dayAgo = to - HOURS_OF_DAY + 1
  try {
    const { accepted, bots, lastHour } = await countBeacons(visit, site, dayAgo)
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
