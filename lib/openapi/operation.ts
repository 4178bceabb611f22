import { type Body, IDEMPOTENCY_KEY, type Operation } from '../contract/operation.ts'
import { toResponses } from './responses.ts'
import { toSchema } from './schemas.ts'

export const SECURITY_SCHEMES = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description:
      'A secret key (`sk_live_…`) for servers, or a publishable key (`pk_live_…`) for look-ups from web pages. A publishable key needs an Origin header that matches one of its patterns. Either may also be sent as the bearer token. If a request has both a key and a session token, the key is used.',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      'A secret or publishable key as the user name, with an empty password, as `curl -u "$KEY:"` sends it.',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A session token from `POST /api/auth/sign-in/email` of the auth service. For dashboards; it has every scope.',
  },
} as const

export const PARAMETERS = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description:
      'An id for the request, which the answer repeats. A value that is not a UUID is replaced.',
    schema: { type: 'string' },
    example: '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01',
  },
} as const

/** draft-ietf-httpapi-idempotency-key-header. */
const IDEMPOTENCY_HEADER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'An id that you choose, such as a UUID. If the answer is lost, send the request again with the same id: for a day, it has no second effect, and gets the same answer, also while the first request is being answered. With another body under the same id it is refused. Errors are not kept: after one, the request is tried again.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY.source },
  example: '0b9fb3d8-6c1c-4d3a-9f0e-6f2e8f1d2c3b',
} as const

/** One row as an OpenAPI operation. */
export function toOperation(row: Operation): object {
  const parameters = [
    ...requiredParameters('path', row.params),
    ...queryParameters(row),
    ...requiredParameters('header', row.headers),
    ...(row.takesIdempotencyKey === true ? [IDEMPOTENCY_HEADER] : []),
  ]
  const description = describe(row)
  return {
    operationId: row.id,
    tags: [row.tag],
    summary: row.summary,
    ...(description !== '' && { description }),
    security: row.access === 'public' ? [] : [{ apiKey: [] }, { basic: [] }, { session: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(row.body !== undefined && { requestBody: toRequestBody(row.body) }),
    responses: toResponses(row),
  }
}

function describe({ description, access, fullAccess }: Operation): string {
  return [description, needsOf(access, fullAccess)]
    .filter((text) => text !== undefined)
    .join('\n\n')
}

function needsOf(access: Operation['access'], fullAccess: true | undefined): string | undefined {
  if (access === 'public') return undefined
  const scope = `Needs the scope \`${access}\``
  return fullAccess === true ? `${scope}; keys that lack any scope are refused.` : `${scope}.`
}

function requiredParameters(place: 'path' | 'header', params: Operation['params'] = {}): object[] {
  return Object.entries(params).map(([name, { description, example, schema: own }]) => {
    const schema = own === undefined ? { type: 'string' } : toSchema(own)
    return { name, in: place, required: true, description, schema, example }
  })
}

function queryParameters({ query }: Operation): object[] {
  if (query === undefined) return []
  const { properties = {}, required = [] } = toSchema(query)
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', ...schema } = typeof property === 'boolean' ? {} : property
    return { name, in: 'query', required: required.includes(name), description, schema }
  })
}

function toRequestBody({ schema, isOptional, maxBytes, ...examples }: Body): object {
  return {
    ...(maxBytes !== undefined && { description: `At most ${maxBytes} bytes` }),
    required: isOptional !== true,
    content: { 'application/json': { schema: toSchema(schema), ...toExamples(examples) } },
  }
}

function toExamples({ example, otherExamples }: Pick<Body, 'example' | 'otherExamples'>): object {
  if (otherExamples === undefined) return { example }
  const others = Object.entries(otherExamples).map(([name, value]) => [name, { value }])
  return { examples: { Usual: { value: example }, ...Object.fromEntries(others) } }
}
