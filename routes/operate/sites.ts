import * as v from 'valibot'
import { readAllSites } from '../../lib/accounts/all-sites.ts'
import { textUpTo } from '../../lib/contract/common.ts'
import { parse } from '../../lib/parts/parse.ts'
import { AllSites } from '../../pages/operate/all-sites.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { splitPage } from './paging.ts'

const PAGE_SIZE = 50

/** Origin and id of a site. */
const After = v.pipe(
  textUpTo(500),
  v.regex(/^\S+ [\w-]{1,40}$/, 'is not a page'),
  v.transform((text) => {
    const [name = '', id = ''] = text.split(' ')
    return { name, id }
  }),
)

const Query = v.object({
  search: v.optional(v.pipe(textUpTo(300), v.trim(), v.toLowerCase()), ''),
  after: v.optional(After),
})

/** Shows a page of the sites of all users. */
export async function showAllSites(visit: UserVisit): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const { search, after = null } = parse(Query, c.req.query())
  const wanted = { search, after, limit: PAGE_SIZE + 1 }
  const found = await readAllSites(services.storage.longReads, wanted)
  const { rows, last } = splitPage(found, PAGE_SIZE)
  const next = last === undefined ? null : `${last.name} ${last.id}`
  const content = AllSites({ base: instance.base, search, sites: rows, next })
  return showOperatePage(visit, { title: 'Sites', content })
}
