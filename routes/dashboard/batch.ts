import { BATCH_MAX, BatchBody } from '../../lib/contract/geo/batch.ts'
import { ApiError } from '../../lib/errors.ts'
import { parse, readJson } from '../../lib/parse.ts'
import { Batch, type BatchAnswer } from '../../pages/dashboard/look-up/batch.tsx'
import { columnsNamed, fieldsOf } from '../../pages/dashboard/look-up/batch-columns.ts'
import type { PageAnswer } from '../pages/page.ts'
import { messageOf } from '../request/admit.ts'
import { showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import { readForm } from './request/form.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'

export const batchRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/batch', answer: (visit) => showBatch(visit) },
  { method: 'post', path: '/app/batch', answer: lookUp },
]

/** Enough for the largest batch that the API accepts, as a form or as JSON. */
const MAX_BYTES = 65_536

type Shown = Omit<Parameters<typeof Batch>[0], 'base'>

function showBatch(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const content = Batch({ base: visit.instance.base, ...shown })
  return showPage(visit, { title: 'Batch', content, status, assets: ['batch.js'] })
}

/** The page's script sends parts of a file as JSON; without the script the browser sends the form. */
function lookUp(visit: UserVisit): Promise<PageAnswer> {
  const type = visit.c.req.header('content-type') ?? ''
  return type.startsWith('application/json') ? answerScript(visit) : answerForm(visit)
}

async function answerScript({ callApi, c }: UserVisit): Promise<PageAnswer> {
  try {
    const body = parse(BatchBody, await readJson(messageOf(c), MAX_BYTES))
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
  const form = await readForm(visit.c, MAX_BYTES)
  const typed = form.text('addresses')
  const columns = columnsNamed(form.all('column'))
  try {
    const body = { ips: readAddresses(typed), fields: fieldsOf(columns) }
    const { results, meta } = await visit.callApi('locateBatch', { body })
    const answer: BatchAnswer = { results, degraded: meta.degraded }
    return showBatch(visit, { typed, columns, answer })
  } catch (error) {
    const { status, message } = errorForPage(error)
    return showBatch(visit, { typed, columns, error: `${message}.` }, status)
  }
}

function readAddresses(text: string): string[] {
  const lines = text.split(/\s+/).filter(Boolean)
  if (lines.length === 0) throw new ApiError('BAD_REQUEST', 'Enter at least one address')
  if (lines.length <= BATCH_MAX) return lines
  const message = `${lines.length} addresses are too many; the maximum is ${BATCH_MAX}`
  throw new ApiError('BAD_REQUEST', message)
}
