import { recognise } from '../../lib/address-lists/form.ts'
import { BatchBody } from '../../lib/contract/geo/batch.ts'
import { parse, readJson } from '../../lib/parts/parse.ts'
import { Batch } from '../../pages/dashboard/look-up/batch.tsx'
import { columnsNamed } from '../../pages/dashboard/look-up/batch-columns.ts'
import { readCorrections } from '../../pages/dashboard/look-up/list-fields.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { assetHref } from '../pages/page-assets.ts'
import { messageOf } from '../request/admit.ts'
import { lookUpList } from './look-up-list.ts'
import { showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import { readForm } from './request/form.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

/** Enough for as many lines of a log as a batch may have. */
const MAX_FORM_BYTES = 524_288

export const batchRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/batch', answer: (visit) => showBatch(visit) },
  { method: 'post', path: '/app/batch', answer: lookUp, maxBytes: MAX_FORM_BYTES },
]

/** Enough for the largest batch that the API accepts. */
const MAX_JSON_BYTES = 65_536

type Shown = Omit<Parameters<typeof Batch>[0], 'base' | 'world'>

async function showBatch(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const { base } = visit.instance
  const world = await assetHref(base, 'world-map.svg')
  const content = Batch({ base, world, ...shown })
  return showPage(visit, { title: 'Batch look-up', content, status, assets: ['batch.js'] })
}

/** The page's script sends parts of a file as JSON; without the script the browser sends the form. */
function lookUp(visit: UserVisit): Promise<PageAnswer> {
  const type = visit.c.req.header('content-type') ?? ''
  return type.startsWith('application/json') ? answerScript(visit) : answerForm(visit)
}

async function answerScript({ callApi, c }: UserVisit): Promise<PageAnswer> {
  try {
    const body = parse(BatchBody, await readJson(messageOf(c), MAX_JSON_BYTES))
    return { status: 200, ...toFile(await callApi('locateBatch', { body })) }
  } catch (error) {
    const { status, code, message, headers } = errorForPage(error)
    return { status, headers, ...toFile({ error: { code, message } }) }
  }
}

function toFile(body: unknown) {
  return { file: JSON.stringify(body), type: 'application/json' }
}

async function answerForm(visit: UserVisit): Promise<PageAnswer> {
  const fields = await readForm(visit.c, MAX_FORM_BYTES)
  const typed = fields.exact('addresses')
  const corrections = readCorrections(fields.text)
  const columns = columnsNamed(fields.all('column'))
  try {
    const list = { text: typed, form: recognise(typed, corrections), columns }
    const answer = await lookUpList(list, visit.callApi)
    return showBatch(visit, { typed, corrections, columns, answer })
  } catch (error) {
    const { status, message } = errorForPage(error)
    return showBatch(visit, { typed, corrections, columns, error: `${message}.` }, status)
  }
}
