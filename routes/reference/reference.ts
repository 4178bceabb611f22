import type { Context, Hono } from 'hono'
import { DOCS_PATH, LLMS_PATH } from '../../lib/contract/pages.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { once } from '../../lib/parts/once.ts'
import type { Services } from '../../lib/services/services.ts'
import { ReferenceFrame } from '../../pages/reference/frame.tsx'
import { SearchResults } from '../../pages/reference/overview.tsx'
import { foundBy } from '../../pages/reference/search.ts'
import { PageList } from '../../pages/reference/side-bar.tsx'
import type { Env } from '../context.ts'
import { instanceOf, type PageAnswer, render, servePage } from '../pages/page.ts'
import { pageAssets } from '../pages/page-assets.ts'
import { toResponse } from '../request/respond.ts'
import { refuseMethod } from '../request/unmatched.ts'
import { openReference } from './pages.ts'

const SEARCH_PATH = `${DOCS_PATH}/search.json`

/** Each route's pattern, and its name in the log and the metrics. */
const PAGE_ROUTES = [
  [`${DOCS_PATH}/operations/:name`, `${DOCS_PATH}/operations/{operationId}`],
  [`${DOCS_PATH}/guides/:name`, `${DOCS_PATH}/guides/{name}`],
] as const

/** In characters. Longer input is cut off. */
const MAX_QUERY = 100

/** Mounts the API reference: a page for each operation, guides, and a search. */
export function mountReference(app: Hono<Env>, services: Services): void {
  const reference = openReference(services)
  const search = createSearch(services, reference.index)
  app.get(DOCS_PATH, (c) =>
    servePage(services, c, DOCS_PATH, () => {
      const query = readQuery(c)
      return query === '' ? showPage(DOCS_PATH) : search(query)
    }),
  )
  app.get(SEARCH_PATH, (c) =>
    servePage(services, c, SEARCH_PATH, async () => ({
      status: 200,
      file: JSON.stringify(await reference.index()),
      type: 'application/json',
    })),
  )
  for (const [pattern, route] of PAGE_ROUTES) {
    app.get(pattern, (c) => servePage(services, c, route, () => showPage(c.req.path)))
    app.all(pattern, (c) => toResponse(refuseMethod(services, c, { route })))
  }
  app.get(LLMS_PATH, (c) => servePage(services, c, LLMS_PATH, () => showPage(LLMS_PATH)))
  for (const path of [DOCS_PATH, SEARCH_PATH, LLMS_PATH]) {
    app.all(path, (c) => toResponse(refuseMethod(services, c, { route: path })))
  }

  async function showPage(path: string): Promise<PageAnswer> {
    const show = reference.pages.get(path)
    if (show === undefined) throw new ApiError('NOT_FOUND', 'No such page')
    return show()
  }
}

function readQuery({ req }: Context<Env>): string {
  return (req.query('q') ?? '').trim().slice(0, MAX_QUERY)
}

type Index = ReturnType<typeof openReference>['index']

/** Answers a search with a page, which works without a script. */
function createSearch(services: Services, index: Index) {
  const renderList = once(() => render(PageList({ base: instanceOf(services).base, path: '' })))
  return async (query: string): Promise<PageAnswer> => {
    const instance = instanceOf(services)
    const found = foundBy(await index(), query)
    const html = ReferenceFrame({
      instance,
      assets: await pageAssets(instance.base, 'docs.css', 'docs.js'),
      path: DOCS_PATH,
      title: 'Search',
      query,
      list: await renderList(),
      children: SearchResults({ base: instance.base, query, found }),
    })
    return { status: 200, html }
  }
}
