import { CreateSiteBody } from '../../lib/contract/account-schemas.ts'
import { SCRIPT_PATH } from '../../lib/contract/script.ts'
import type { ApiError } from '../../lib/errors.ts'
import { parse } from '../../lib/parse.ts'
import { Sites, type SitesProps } from '../../pages/dashboard/sites.tsx'
import type { PageAnswer } from '../page.ts'
import { leadTo, showPage } from './answer.ts'
import { refusalOf } from './ask.ts'
import { checkBeacons } from './beacon-check.ts'
import { findPlan } from './find-plan.ts'
import { readForm } from './form.ts'
import type { AppRoute, UserVisit } from './visit.ts'

export const siteRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/sites', answer: (visit) => showSites(visit) },
  { method: 'post', path: '/app/sites', answer: addSite },
  { method: 'post', path: '/app/sites/:id/remove', answer: removeSite },
]

type Shown = Pick<SitesProps, 'typed' | 'trouble'>

async function showSites(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { ask, instance, services, c } = visit
  const [own, tag, plan] = await Promise.all([
    ask('listSites'),
    ask('getScriptTag'),
    findPlan(visit),
  ])
  const sites = await Promise.all(
    own.map(async (site) => ({ site, check: await checkBeacons(visit, site) })),
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
    plan,
    done: c.req.query('done'),
    ...shown,
  })
  return showPage(visit, { title: 'Sites', content, status })
}

async function addSite(visit: UserVisit): Promise<PageAnswer> {
  const typed = (await readForm(visit.c)).text('name')
  try {
    await visit.ask('createSite', { body: parse(CreateSiteBody, { name: typed }) })
    return leadTo(visit, '/app/sites?done=added')
  } catch (error) {
    return refuse(visit, refusalOf(error), { typed })
  }
}

async function removeSite(visit: UserVisit): Promise<PageAnswer> {
  try {
    await visit.ask('deleteSite', { params: { siteId: visit.c.req.param('id') ?? '' } })
    return leadTo(visit, '/app/sites?done=removed')
  } catch (error) {
    return refuse(visit, refusalOf(error))
  }
}

function refuse(visit: UserVisit, { message, status }: ApiError, shown: Shown = {}) {
  return showSites(visit, { ...shown, trouble: message }, status)
}
