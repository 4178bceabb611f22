import type { GenericSchema } from 'valibot'
import { errorCodes, formsOf, type Operation, type Reply } from '../../lib/contract/operation.ts'
import { meaningOf } from '../../lib/openapi/errors.ts'
import type { Field, FieldReader, Shape } from '../../lib/openapi/fields.ts'
import { toSchema } from '../../lib/openapi/schemas.ts'
import { ERROR_STATUS, type ErrorCode } from '../../lib/parts/errors.ts'
import { limitText, type Rates, rateText } from './limit-text.ts'
import { sampleRequest } from './samples/request.ts'
import { type Sample, samplesOf } from './samples/samples.ts'

export interface ParameterText extends Field {
  readonly place: 'path' | 'query' | 'header'
  /** A value to try; empty if none is needed. */
  readonly example: string
}

export interface ReplyText {
  readonly status: number
  readonly description: string
  /** Such as `list of objects`; empty if there is no body. */
  readonly type: string
  readonly shapes: readonly Shape[]
  /** As JSON; empty if there is none. */
  readonly example: string
}

export interface ErrorText {
  readonly status: number
  readonly code: ErrorCode
  readonly meaning: string
}

/** Everything that the reference says about an operation. */
export interface OperationText {
  readonly row: Operation
  readonly access: string
  readonly limits: readonly string[]
  readonly parameters: readonly ParameterText[]
  readonly body: { readonly shapes: readonly Shape[]; readonly example: string } | null
  readonly replies: readonly ReplyText[]
  readonly errors: readonly ErrorText[]
  readonly samples: readonly Sample[]
}

export interface Facts {
  /** Base URL of the service, without a trailing slash. */
  readonly url: string
  readonly rates: Rates
}

export function describeOperation(
  row: Operation,
  reader: FieldReader,
  { url, rates }: Facts,
): OperationText {
  const parameters = parametersOf(row, reader)
  const required = parameters
    .filter(({ place, isRequired }) => place === 'query' && isRequired)
    .map(({ name }) => name)
  return {
    row,
    access: accessText(row),
    limits: limitsOf(row, rates),
    parameters,
    body: row.body === undefined ? null : bodyText(row.body, reader),
    replies: repliesOf(row, reader),
    errors: errorsOf(row),
    samples: samplesOf(sampleRequest(row, url, required)),
  }
}

function parametersOf({ params, query, headers }: Operation, reader: FieldReader): ParameterText[] {
  const given = (place: 'path' | 'header', listed: Operation['params'] = {}) =>
    Object.entries(listed).map(([name, { description, example, schema }]) => {
      const own = schema === undefined ? { type: 'string' as const } : toSchema(schema)
      return { ...reader.toField(name, { ...own, description }, true), place, example }
    })
  const [shape] = query === undefined ? [] : reader.shapesOf(toSchema(query))
  const inQuery = (shape?.fields ?? []).map((field) => ({
    ...field,
    place: 'query' as const,
    example: '',
  }))
  return [...given('path', params), ...inQuery, ...given('header', headers)]
}

function bodyText({ schema, example }: NonNullable<Operation['body']>, reader: FieldReader) {
  return { shapes: reader.shapesOf(toSchema(schema)), example: pretty(example) }
}

function repliesOf(row: Operation, reader: FieldReader): ReplyText[] {
  const forms = formsOf(row).slice(1)
  const others = forms.length === 0 ? '' : `; by the header \`Accept\` also ${forms.join(' or ')}`
  return Object.entries(row.replies).map(([status, { schema, example, file, ...reply }]) => ({
    status: Number(status),
    description: `${reply.description}${others}${headersText(reply)}`,
    ...(schema === null ? { type: file ?? '', shapes: [] } : readBody(schema, reader)),
    example: schema === null ? '' : pretty(example),
  }))
}

function headersText({ headers = {} }: Pick<Reply, 'headers'>): string {
  const names = Object.keys(headers).map((name) => `\`${name}\``)
  return names.length === 0 ? '' : `. Headers: ${names.join(', ')}`
}

/** Converts the schema once, which takes most of the time. */
function readBody(schema: GenericSchema, reader: FieldReader) {
  const converted = toSchema(schema)
  return { type: reader.typeOf(converted), shapes: reader.shapesOf(converted) }
}

function errorsOf(row: Operation): ErrorText[] {
  return errorCodes(row)
    .map((code) => ({ status: ERROR_STATUS[code], code, meaning: meaningOf(code) }))
    .sort((a, b) => a.status - b.status || a.code.localeCompare(b.code))
}

function accessText({ access, fullAccess }: Operation): string {
  if (access === 'public') return 'No key needed'
  if (fullAccess === true) return 'A key with full access, or a session'
  return `A key with the scope \`${access}\`, or a session`
}

function limitsOf({ limit, successLimit, metered, requestsIn }: Operation, rates: Rates): string[] {
  return [
    limitText(limit, rates),
    ...(successLimit === undefined ? [] : [`${rateText(rates[successLimit])} that succeed`]),
    ...(metered === true || requestsIn !== undefined ? ['Counts towards the monthly cap'] : []),
  ]
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2)
}
