import type { Child } from 'hono/jsx'
import { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { DOCS_PATH, LLMS_PATH } from '../../lib/contract/pages.ts'
import { POLICIES } from '../../lib/limits/rate-limiter.ts'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { createFieldReader } from '../../lib/openapi/fields.ts'
import { namedSchemas, toSchema } from '../../lib/openapi/schemas.ts'
import { once } from '../../lib/parts/once.ts'
import { runInSlices } from '../../lib/parts/time-slices.ts'
import type { Services } from '../../lib/services/services.ts'
import { GUIDES, guidePath, operationPath } from '../../pages/reference/contents.ts'
import { describeOperation } from '../../pages/reference/describe.ts'
import { ReferenceFrame } from '../../pages/reference/frame.tsx'
import { GuideView } from '../../pages/reference/guides/guide-view.tsx'
import { guideText } from '../../pages/reference/guides/guides.ts'
import { guideMarkdown, llmsText, operationMarkdown } from '../../pages/reference/markdown.ts'
import type { SearchEntry } from '../../pages/reference/match.ts'
import { OperationView } from '../../pages/reference/operation.tsx'
import { Overview } from '../../pages/reference/overview.tsx'
import { searchWords, wordsIn } from '../../pages/reference/search.ts'
import { instanceOf, type PageAnswer, render } from '../pages/page.ts'
import { pageAssets } from '../pages/page-assets.ts'

const ROWS: readonly Operation[] = operations
const RATES = { ...POLICIES, beacon: POLICIES.beacons }
const MARKDOWN = 'text/markdown; charset=utf-8'

type ShowPage = () => Promise<PageAnswer>

/**
 * The pages of the reference by path, and the words by which the search finds them. Each is made on
 * first use and kept, since it is the same for everybody.
 */
export function openReference(services: Services) {
  const texts = createTexts(services)
  const base = () => instanceOf(services).base
  const page = (path: string, title: string, content: () => Promise<Child>) =>
    [path, once(() => renderPage(services, { path, title, content }))] as const
  const file = (path: string, write: () => Promise<string>, type = MARKDOWN) =>
    [path, once(async () => ({ status: 200, file: await write(), type }))] as const

  const pages = new Map<string, ShowPage>([
    page(DOCS_PATH, 'API reference', async () => {
      const { samples } = await texts.operation(getRow('locateAddress'))
      return Overview({ base: base(), url: services.baseUrl(), samples })
    }),
    ...ROWS.flatMap((row) => [
      page(operationPath(row), row.summary, async () =>
        OperationView({ base: base(), text: await texts.operation(row) }),
      ),
      file(`${operationPath(row)}.md`, async () =>
        operationMarkdown(await texts.operation(row), services.baseUrl()),
      ),
    ]),
    ...GUIDES.flatMap(({ name, title }) => [
      page(guidePath(name), title, async () =>
        GuideView({ base: base(), text: guideText(name, await texts.guideFacts()) }),
      ),
      file(`${guidePath(name)}.md`, async () =>
        guideMarkdown(guideText(name, await texts.guideFacts()), services.baseUrl()),
      ),
    ]),
    file(LLMS_PATH, async () => llmsText(services.baseUrl()), 'text/plain; charset=utf-8'),
  ])
  return { pages, index: once(() => createIndex(texts)) }
}

type Texts = ReturnType<typeof createTexts>

/** What the pages say. The schemas are converted once. */
function createTexts({ baseUrl, plans }: Services) {
  const readFields = once(async () => createFieldReader(await runInSlices(namedSchemas())))
  return {
    operation: async (row: Operation) =>
      describeOperation(row, await readFields(), { url: baseUrl(), rates: RATES }),
    guideFacts: async () => {
      const { shapesOf } = await readFields()
      const result = shapesOf(toSchema(GeolocationResult))
      return { url: baseUrl(), rates: RATES, plans: plans.list, tools: TOOLS, result }
    },
  }
}

interface Page {
  readonly path: string
  readonly title: string
  readonly content: () => Promise<Child>
}

async function renderPage(services: Services, { path, title, content }: Page): Promise<PageAnswer> {
  const instance = instanceOf(services)
  const assets = await pageAssets(instance.base, 'docs.css', 'docs.js')
  const frame = { instance, assets, path, title, children: await content() }
  return { status: 200, html: await render(ReferenceFrame(frame)) }
}

/** Describes the operations one by one and lets other work run in between, since all take long together. */
async function createIndex(texts: Texts): Promise<SearchEntry[]> {
  const facts = await texts.guideFacts()
  const index: SearchEntry[] = GUIDES.map(({ name }) => ({
    path: guidePath(name),
    words: wordsIn(`${name} ${guideMarkdown(guideText(name, facts), '')}`),
  }))
  for (const row of ROWS) {
    index.push({ path: operationPath(row), words: searchWords(await texts.operation(row)) })
    await new Promise((resolve) => setImmediate(resolve))
  }
  return index
}

function getRow(id: string): Operation {
  const row = ROWS.find((candidate) => candidate.id === id)
  if (row === undefined) throw new Error(`No operation ${id}`)
  return row
}
