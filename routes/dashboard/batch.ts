import { BATCH_MAX, BatchBody } from '../../lib/contract/batch.ts'
import { ApiError } from '../../lib/errors.ts'
import { parse, readJson } from '../../lib/parse.ts'
import { Batch, type BatchAnswer } from '../../pages/dashboard/batch.tsx'
import { columnsNamed, fieldsOf } from '../../pages/dashboard/batch-columns.ts'
import type { PageAnswer } from '../page.ts'
import { showPage } from './answer.ts'
import { refusalOf } from './ask.ts'
import { readForm } from './form.ts'
import type { AppRoute, UserVisit } from './visit.ts'

export const batchRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/batch', answer: (visit) => showBatch(visit) },
  { method: 'post', path: '/app/batch', answer: lookUp },
]

/** As many addresses as the API takes at once, as a form or as JSON. */
const MAX_BYTES = 65_536

type Shown = Omit<Parameters<typeof Batch>[0], 'base'>

function showBatch(visit: UserVisit, shown: Shown = {}, status = 200): Promise<PageAnswer> {
  const content = Batch({ base: visit.instance.base, ...shown })
  return showPage(visit, { title: 'Batch', content, status, assets: ['batch.js'] })
}

/** The script of the page asks in JSON, for a part of a file; without it the form is sent. */
function lookUp(visit: UserVisit): Promise<PageAnswer> {
  const type = visit.c.req.header('content-type') ?? ''
  return type.startsWith('application/json') ? answerScript(visit) : answerForm(visit)
}

async function answerScript({ ask, c }: UserVisit): Promise<PageAnswer> {
  try {
    const body = parse(BatchBody, await readJson(c.req.raw, MAX_BYTES))
    return { status: 200, ...toFile(await ask('locateBatch', { body })) }
  } catch (error) {
    const { status, code, message, headers } = refusalOf(error)
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
    const body = { ips: readLines(typed), fields: fieldsOf(columns) }
    const { results, meta } = await visit.ask('locateBatch', { body })
    const answer: BatchAnswer = { results, degraded: meta.degraded }
    return showBatch(visit, { typed, columns, answer })
  } catch (error) {
    const { status, message } = refusalOf(error)
    return showBatch(visit, { typed, columns, trouble: message }, status)
  }
}

function readLines(text: string): string[] {
  const lines = text.split(/\s+/).filter(Boolean)
  if (lines.length === 0) throw new ApiError('BAD_REQUEST', 'Type at least one address')
  if (lines.length <= BATCH_MAX) return lines
  const many = `${lines.length} addresses are more than the ${BATCH_MAX} of one request`
  throw new ApiError('BAD_REQUEST', many)
}
