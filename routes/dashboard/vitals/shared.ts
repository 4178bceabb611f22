import type { Context, Hono } from 'hono'
import { authorizeSession } from '../../../lib/access/authenticate.ts'
import { findSessionUser } from '../../../lib/access/find-session.ts'
import { openSiteLink } from '../../../lib/access/site-links.ts'
import { SHARED_PATH } from '../../../lib/contract/pages.ts'
import { listCountries } from '../../../lib/geo/place/countries.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import { siteText } from '../../../pages/dashboard/parts/format.ts'
import { SharedFrame } from '../../../pages/dashboard/vitals/shared-frame.tsx'
import { Vitals, VitalsFilters, type VitalsProps } from '../../../pages/dashboard/vitals/vitals.tsx'
import { ErrorPage } from '../../../pages/error-page.tsx'
import type { Env } from '../../context.ts'
import { instanceOf, type PageAnswer, servePage } from '../../pages/page.ts'
import { pageAssets } from '../../pages/page-assets.ts'
import type { Exchange } from '../../request/exchange.ts'
import { chargeAddress, chargeUser } from '../../request/limit.ts'
import { toResponse } from '../../request/respond.ts'
import { refuseMethod } from '../../request/unmatched.ts'
import { type Api, openCall, performWithin, textOf } from '../../request/within.ts'
import { errorForPage, getOperation } from '../request/call-api.ts'
import { toRefusal } from '../request/problem.ts'
import { readChoice, withDays } from './choice.ts'
import { makeReport, type ReadOverview } from './report.ts'

/** Of every answer: pages that it links to must not learn its address, and no search engine or cache may keep it. */
const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

type Link = NonNullable<Awaited<ReturnType<typeof openSiteLink>>>

/** Mounts the page that shows the vitals of one site to whoever has a link to them. */
export function mountSharedVitals(app: Hono<Env>, api: Api): void {
  const { services } = api
  app.get(SHARED_PATH, (c) =>
    servePage(services, c, SHARED_PATH, async (exchange) => {
      try {
        // Readers have no account, so they share the limit of strangers: it holds for guesses, too.
        chargeAddress(services, exchange, 'strangers')
        return { ...(await showShared(api, c, exchange)), headers: HEADERS }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const { code, message } = error
        throw new ApiError(code, message, { headers: { ...error.headers, ...HEADERS } })
      }
    }),
  )
  app.all(SHARED_PATH, (c) => toResponse(refuseMethod(services, c, { route: SHARED_PATH })))
}

async function showShared(api: Api, c: Context<Env>, exchange: Exchange): Promise<PageAnswer> {
  const { services } = api
  const token = c.req.param('token') ?? ''
  const link = await openSiteLink(services.db, token, services.now())
  if (link === null) return brokenLink(api, exchange)
  const choice = { ...readChoice((name) => c.req.query(name), []), site: link.site }
  const instance = instanceOf(services)
  const shown = {
    base: instance.base,
    page: `${instance.base}${SHARED_PATH.replace(':token', token)}`,
    choice: { ...withDays(choice, services.now()), site: '' },
    countries: listCountries(),
    owner: null,
  }
  const page = { instance, title: `Web vitals of ${siteText(link.site)}` }
  const assets = await pageAssets(instance.base, 'app.css', 'app.js', 'vitals.js')
  const show = (props: VitalsProps, status: number): PageAnswer => {
    const parts = { action: VitalsFilters(props), children: Vitals(props) }
    return { status, html: SharedFrame({ ...page, assets, ...parts }) }
  }
  try {
    const report = await makeReport(services, await readAs(api, exchange, link), choice)
    return show({ ...shown, report }, 200)
  } catch (error) {
    const refused = errorForPage(error)
    const why = toRefusal(refused, { from: 'from', to: 'to' })
    return show({ ...shown, report: null, ...why }, refused.status)
  }
}

/** The same for a wrong, an expired and a revoked link. */
async function brokenLink({ services }: Api, { requestId }: Exchange): Promise<PageAnswer> {
  const instance = instanceOf(services)
  const assets = await pageAssets(instance.base)
  const title = 'This link does not work'
  const text = 'It has expired, was revoked or is incomplete. Ask whoever sent it for a new one.'
  return { status: 404, html: ErrorPage({ instance, assets, title, text, requestId }) }
}

/** Reads overviews as the owner of the site, of this site alone, without errors: their messages may be private. */
async function readAs(
  api: Api,
  exchange: Exchange,
  { id, userId, site }: Link,
): Promise<ReadOverview> {
  const { services } = api
  const row = getOperation('getRumOverview')
  const owner = await findSessionUser(services.db, userId)
  if (owner === null) throw new ApiError('NOT_FOUND', 'No such link')
  return async (query) => {
    const call = openCall(services, exchange, row)
    const reply = await performWithin(
      api,
      call,
      { query: { ...query, domain: site } },
      async () => {
        call.caller = { ...authorizeSession(services, owner, row), app: 'dashboard' }
        // All readers of a link together may read as much as a user of the dashboard.
        chargeUser(services, call, 'dashboard', id)
      },
    )
    return { ...JSON.parse(textOf(reply)), errors: [] }
  }
}
