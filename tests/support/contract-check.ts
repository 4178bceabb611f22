import assert from 'node:assert/strict'
import * as v from 'valibot'
import { ApiErrorBody } from '../../lib/contract/common.ts'
import { SelectedResult } from '../../lib/contract/geo/geolocation.ts'
import { errorCodes, formsOf, type Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { ERROR_STATUS, type ErrorCode } from '../../lib/parts/errors.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed text, or the text if it is not JSON; undefined if it is empty. */
  readonly body: unknown
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const PATTERNS = operations.map((row: Operation) => ({
  row,
  pattern: new RegExp(`^${row.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

/** Fails unless the contract allows `answer` to `method` at `path`. */
export function checkAnswer(method: string, path: string, answer: Answer): void {
  checkHeaders(answer)
  const rows = rowsAt(path)
  const asked = method === 'HEAD' ? 'get' : method.toLowerCase()
  const row = rows.find((candidate) => candidate.method === asked)
  checkForm(row, answer)
  if (method === 'HEAD') assert.equal(answer.text, '', 'HEAD has no body')
  if (row !== undefined) checkRow(row, method, answer)
  else if (rows.length === 0) checkError(answer, method, ['NOT_FOUND', 'RATE_LIMITED'])
  else if (method === 'OPTIONS' && answer.status === 204) assert.equal(answer.text, '')
  else if (method === 'OPTIONS') checkError(answer, method, ['RATE_LIMITED'])
  else checkError(answer, method, ['METHOD_NOT_ALLOWED', 'RATE_LIMITED'])
}

const rowsByPath = new Map<string, readonly Operation[]>()

/** The rows with this very path; if there are none, those whose path matches. A slash at the end does not count. */
function rowsAt(given: string): readonly Operation[] {
  const path = given.replace(/(?<=.)\/$/, '')
  const known = rowsByPath.get(path)
  if (known !== undefined) return known
  const matching = PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ row }) => row)
  const own = matching.filter((row) => row.path === path)
  const rows = own.length > 0 ? own : matching
  rowsByPath.set(path, rows)
  return rows
}

function checkHeaders({ status, headers }: Answer): void {
  assert.match(headers.get('x-request-id') ?? '', UUID)
  const allowed = headers.get('access-control-allow-origin') ?? '*'
  if (allowed !== '*') assert.equal(headers.get('vary'), 'Origin')
  assert.equal(headers.get('cache-control'), 'no-store')
  if (status === 204) assert.equal(headers.get('content-type'), null)
}

/** JSON, or another form of the row; a file has the type of its reply alone, also for HEAD. */
function checkForm(row: Operation | undefined, { status, headers, text }: Answer): void {
  const type = headers.get('content-type') ?? ''
  const reply = row?.replies[status]
  if (reply?.file !== undefined) {
    assert.equal(type, reply.file)
    return
  }
  if (text === '' || type === 'application/json') return
  const others = row === undefined || reply === undefined ? [] : formsOf(row).slice(1)
  const allowed = ['application/json', ...others.map((form) => `${form}; charset=utf-8`)]
  assert.ok(allowed.includes(type), `${type} is none of ${allowed}`)
}

export function isJson(headers: Headers): boolean {
  return headers.get('content-type') === 'application/json'
}

function checkRow(row: Operation, method: string, answer: Answer): void {
  const reply = row.replies[answer.status]
  const where = `${method} ${row.path} answered ${answer.status}: ${answer.text.slice(0, 300)}`
  if (reply === undefined || isErrorOf(row, answer)) {
    checkError(answer, method, errorCodes(row))
    return
  }
  if (method === 'HEAD' || reply.file !== undefined || !isJson(answer.headers)) return
  if (reply.schema === null) {
    assert.equal(answer.text, '', where)
    return
  }
  const schema = hasFields(row) ? v.union([reply.schema, SelectedResult]) : reply.schema
  const result = v.safeParse(schema, answer.body)
  assert.ok(result.success, `${where}\n${JSON.stringify(result.issues?.[0]?.message)}`)
  const meta = v.safeParse(WithMeta, answer.body)
  if (meta.success) assert.equal(meta.output.meta.requestId, answer.headers.get('x-request-id'))
}

/** Whether a caller can ask for some fields of the answer; the contract describes the whole. */
function hasFields({ id }: Operation): boolean {
  return id === 'locateCaller' || id === 'locateAddress'
}

const WithMeta = v.object({ meta: v.object({ requestId: v.string() }) })

/** A reply may have the same status as an error of another row: its body decides. */
function isErrorOf(row: Operation, { status, body }: Answer): boolean {
  const mayBe = errorCodes(row).some((code) => ERROR_STATUS[code] === status)
  return mayBe && v.safeParse(ApiErrorBody, body).success
}

function checkError(answer: Answer, method: string, codes: readonly ErrorCode[]): void {
  const { status, headers, body, text } = answer
  const allowed = codes.map((code) => ERROR_STATUS[code])
  assert.ok(allowed.includes(status as (typeof allowed)[number]), `${method}: ${status} ${text}`)
  if (method === 'HEAD') return
  const { error, meta } = v.parse(ApiErrorBody, body)
  assert.ok(codes.includes(error.code), `${error.code} is none of ${codes}`)
  assert.equal(ERROR_STATUS[error.code], status)
  // RFC 9110, sections 15.5.2 and 15.5.6
  if (status === 401) assert.match(headers.get('www-authenticate') ?? '', /^Bearer /)
  if (status === 405) assert.match(headers.get('allow') ?? '', /OPTIONS/)
  assert.equal(meta?.requestId, headers.get('x-request-id'))
}
