import { callerEvent } from '../../lib/accounts/audit.ts'
import { checkProof, toSiteProof } from '../../lib/accounts/site-proof.ts'
import { siteNote } from '../../lib/accounts/site-receiver.ts'
import {
  addSite,
  findSite,
  listSites,
  newSite,
  parseSiteName,
  removeSite,
  toSite,
} from '../../lib/accounts/sites.ts'
import { ApiError, fieldError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'

export function siteHandlers({
  db,
  keys,
  siteProofs,
  findReceiver,
  baseUrl,
}: Pick<Services, 'baseUrl' | 'db' | 'findReceiver' | 'keys' | 'siteProofs'>) {
  const getSite = async (userId: string, id: string) => {
    const site = await findSite(db, userId, id)
    if (site === null) throw siteNotFound()
    return site
  }
  const getProof = async (userId: string, id: string) => {
    const site = await getSite(userId, id)
    const receives = (await findReceiver(site.name)) === id
    return { status: 200, body: await toSiteProof(db, site, receives) } as const
  }
  return {
    listSites: async ({ caller }) => {
      const rows = await listSites(db, caller.userId)
      return { status: 200, body: rows.map(toSite) }
    },
    createSite: async ({ caller, body, now }) => {
      const site = newSite({ userId: caller.userId, name: readName(body.name), now })
      const event = callerEvent(caller, siteNote('create_site', site), now)
      const { id: plan, maxSites } = caller.plan
      const change = { event, baseUrl: baseUrl() }
      switch (await keys.changeBy(() => addSite(db, site, maxSites, change))) {
        case 'added':
          return { status: 201, body: toSite(site) }
        case 'exists':
          throw new ApiError(
            'SITE_EXISTS',
            `Cannot add ${site.name}: it is already one of your sites`,
          )
        case 'limit-reached': {
          const message = `Cannot add ${site.name}: the limit of the plan ${plan} is ${maxSites}`
          throw new ApiError('SITE_LIMIT_REACHED', message)
        }
      }
    },
    deleteSite: async ({ caller, params, now }) => {
      const site = await getSite(caller.userId, params.siteId)
      const event = callerEvent(caller, siteNote('delete_site', site), now)
      const change = { event, baseUrl: baseUrl() }
      if (!(await keys.changeBy(() => removeSite(db, site, change)))) throw siteNotFound()
      return { status: 204, body: undefined }
    },
    getSiteProof: async ({ caller, params }) => getProof(caller.userId, params.siteId),
    checkSiteProof: async ({ caller, params, now }) => {
      const site = await getSite(caller.userId, params.siteId)
      const check = { findTxt: siteProofs.findTxt, actor: caller, now }
      await keys.changeBy(() => checkProof(db, site, check))
      return getProof(caller.userId, site.id)
    },
  } satisfies Partial<Handlers>
}

/** The error does not quote the text, which may contain a password before an `@`. */
function readName(text: string): string {
  const name = parseSiteName(text)
  if (name !== null) return name
  throw fieldError(
    'name',
    'must be an http or https origin such as https://shop.example, without a path',
  )
}

function siteNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Site not found')
}
