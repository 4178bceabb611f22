import { apiEvent } from '../lib/accounts/audit.ts'
import {
  addSite,
  findSite,
  listSites,
  newSite,
  parseSiteName,
  removeSite,
  type SiteRow,
  toSite,
} from '../lib/accounts/sites.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services/services.ts'
import type { Handlers } from './context.ts'

export function siteHandlers({ db }: Services) {
  return {
    listSites: async ({ caller }) => {
      const rows = await listSites(db, caller.userId)
      return { status: 200, body: rows.map(toSite) }
    },
    createSite: async ({ caller, body, now }) => {
      const site = newSite({ userId: caller.userId, name: readName(body.name), now })
      const event = apiEvent(caller, { action: 'create_site', ...target(site) }, now)
      const { id: plan, maxSites } = caller.plan
      switch (await addSite(db, site, maxSites, event)) {
        case 'added':
          return { status: 201, body: toSite(site) }
        case 'exists':
          throw new ApiError('SITE_EXISTS', `Cannot add ${site.name}: it is one of your sites`)
        case 'limit-reached': {
          const message = `Cannot add ${site.name}: the limit of the plan ${plan} is ${maxSites}`
          throw new ApiError('SITE_LIMIT_REACHED', message)
        }
      }
    },
    deleteSite: async ({ caller, params, now }) => {
      const site = await findSite(db, caller.userId, params.siteId)
      if (site === null) throw siteNotFound()
      const event = apiEvent(caller, { action: 'delete_site', ...target(site) }, now)
      if (!(await removeSite(db, site, event))) throw siteNotFound()
      return { status: 204, body: undefined }
    },
  } satisfies Partial<Handlers>
}

/** The text is not quoted, since what stands before an `@` may be a password. */
function readName(text: string): string {
  const name = parseSiteName(text)
  if (name !== null) return name
  throw new ApiError(
    'BAD_REQUEST',
    'name: must be an http or https origin such as https://shop.example, and no more than that',
  )
}

function target({ id, name }: SiteRow) {
  return { targetType: 'site', targetId: id, detail: name }
}

function siteNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Site not found')
}
