import { fieldNames } from '../contract/field-paths.ts'
import type { Operation, Reply } from '../contract/operation.ts'
import { schemas } from '../contract/schemas.ts'
import { ERROR_STATUS, type ErrorCode } from '../parts/errors.ts'
import { describeError, errorsByStatus } from './errors.ts'
import { toSchema } from './schemas.ts'

export const HEADERS = {
  'X-Request-Id': {
    description: 'Id of the request, also in the server log',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01',
  },
  'RateLimit-Policy': {
    description: 'The limit: `q` requests in `w` seconds',
    schema: { type: 'string', pattern: '^"[a-z-]+";q=\\d+;w=\\d+$' },
    example: '"per-key";q=10;w=60',
  },
  RateLimit: {
    description: 'What is left of the limit: `r` requests; more are available in `t` seconds',
    schema: { type: 'string', pattern: '^"[a-z-]+";r=\\d+;t=\\d+$' },
    example: '"per-key";r=9;t=6',
  },
  'Retry-After': {
    description: 'Seconds to wait before retrying',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 6,
  },
  'Accept-Encoding': {
    description: 'The encoding of bodies that is read: none',
    required: true,
    schema: { type: 'string' },
    example: 'identity',
  },
  'Not-Included': {
    description:
      'What the request asks to include, although this server has no data for it: privacy, hostname',
    schema: { type: 'string' },
    example: 'privacy',
  },
  'Content-Language': {
    description: 'With `lang=auto`: the language of the names; `Vary` then names `Accept-Language`',
    schema: { type: 'string' },
    example: 'de',
  },
  'WWW-Authenticate': {
    description: 'The alternative to an API key: a session token',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="Meridian"',
  },
  'Server-Timing': {
    description: 'Milliseconds that the server took, for authenticated callers',
    schema: { type: 'string', pattern: '^total;dur=[\\d.]+$' },
    example: 'total;dur=1.3',
  },
} as const

/** All answers of the row by status; errors are references. */
export function toResponses(row: Operation): Record<string, object> {
  const replies = Object.entries(row.replies).map(([status, reply]) => [
    status,
    {
      ...toReply(reply),
      headers: {
        ...toHeaders(row, Number(status)),
        ...toTiming(row),
        ...toNotIncluded(row),
        ...toLanguage(row),
        ...toOwnHeaders(reply),
      },
      ...toLinks(reply),
    },
  ])
  const errors = [...errorsByStatus(row)].map(([status, codes]) => [
    status,
    { $ref: `#/components/responses/${errorName(row, codes)}` },
  ])
  return {
    ...Object.fromEntries([...replies, ...errors]),
    431: { $ref: '#/components/responses/HeadersTooLarge' },
  }
}

/** Error answers that rows share: one for each set of codes with the same status. */
export function sharedResponses(rows: readonly Operation[]): Record<string, object> {
  const errors = rows.flatMap((row) =>
    [...errorsByStatus(row)].map(([status, codes]) => [
      errorName(row, codes),
      { ...toErrors(codes), headers: toHeaders(row, status) },
    ]),
  )
  // The HTTP parser refuses these requests before their operation and rate limit are known.
  const headers = toHeaders({ limit: 'none' }, ERROR_STATUS.HEADERS_TOO_LARGE)
  const HeadersTooLarge = { ...toErrors(['HEADERS_TOO_LARGE']), headers }
  return { ...Object.fromEntries(errors), HeadersTooLarge }
}

function errorName({ limit }: Operation, codes: readonly ErrorCode[]): string {
  return `${codes.join('_or_')}${limit === 'none' ? '_unlimited' : ''}`
}

function toReply({ description, schema, file, example, otherForms = {} }: Reply): object {
  if (file !== undefined) {
    return { description, content: { [file]: { schema: { type: 'string', format: 'binary' } } } }
  }
  if (schema === null) return { description }
  const json = { 'application/json': { schema: toSchema(schema), example } }
  const others = Object.entries(otherForms).map(([type, text]) => [
    type,
    { schema: { type: 'string' }, example: text },
  ])
  return { description, content: { ...json, ...Object.fromEntries(others) } }
}

function toLinks({ links }: Reply): object {
  if (links === undefined) return {}
  const byOperation = Object.entries(links).map(([operationId, fields]) => {
    const names = Object.entries(fields)
    const parameters = names.map(([name, field]) => [name, `$response.body#/${field}`])
    const description = names
      .map(([name, field]) => `\`${name}\` is the \`${field}\` of the answer`)
      .join('; ')
    return [operationId, { operationId, parameters: Object.fromEntries(parameters), description }]
  })
  return { links: Object.fromEntries(byOperation) }
}

function toErrors(codes: readonly ErrorCode[]): object {
  const schema = toSchema(schemas.ApiError)
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  return {
    description: codes.map(describeError).join('\n\n'),
    content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
  }
}

function toNotIncluded(row: Operation): object {
  return takes(row, 'include')
    ? { 'Not-Included': { $ref: '#/components/headers/Not-Included' } }
    : {}
}

function toLanguage(row: Operation): object {
  return takes(row, 'lang')
    ? { 'Content-Language': { $ref: '#/components/headers/Content-Language' } }
    : {}
}

/** Whether the query or the body of the row has the field. */
function takes({ query, body }: Operation, field: string): boolean {
  return [query, body?.schema].some(
    (schema) => schema !== undefined && fieldNames(schema).includes(field),
  )
}

function toOwnHeaders({ headers = {} }: Reply): object {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { description, example }]) => [
      name,
      { description, schema: { type: 'string' }, example },
    ]),
  )
}

function toTiming({ access }: Operation): object {
  const isTimed = access !== 'public' && access !== 'geo:read'
  return isTimed ? { 'Server-Timing': { $ref: '#/components/headers/Server-Timing' } } : {}
}

function toHeaders({ limit }: Pick<Operation, 'limit'>, status: number): object {
  const names: (keyof typeof HEADERS)[] = ['X-Request-Id']
  if (limit !== 'none') names.push('RateLimit-Policy', 'RateLimit')
  if (status === ERROR_STATUS.RATE_LIMITED) names.push('Retry-After')
  if (status === ERROR_STATUS.UNSUPPORTED_MEDIA_TYPE) names.push('Accept-Encoding')
  if (status === ERROR_STATUS.UNAUTHORIZED) names.push('WWW-Authenticate')
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
