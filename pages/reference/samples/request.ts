import type { Operation } from '../../../lib/contract/operation.ts'

/** An example request of an operation, which the samples of all languages send. */
export interface SampleRequest {
  readonly method: string
  /** Absolute, with path parameters and required query parameters filled in. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON; absent if the operation has no body. */
  readonly body?: unknown
  /** What a successful answer carries. */
  readonly answer: 'json' | 'file' | 'nothing'
}

/** In place of the reader's key. The page's script replaces it. */
export const KEY_PLACEHOLDER = 'YOUR_API_KEY'

/** Values of required query parameters. */
const QUERY: Readonly<Record<string, string>> = { domain: 'shop.example', planId: 'pro' }

/** `required` are the names of the required query parameters; `url` is the base URL. */
export function sampleRequest(
  row: Operation,
  url: string,
  required: readonly string[],
): SampleRequest {
  const { method, params = {}, headers = {}, body } = row
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(params[name]?.example ?? ''),
  )
  const query = new URLSearchParams(
    required.map((name): [string, string] => [name, QUERY[name] ?? '']),
  )
  return {
    method: method.toUpperCase(),
    url: `${url}${path}${query.size === 0 ? '' : `?${query}`}`,
    headers: {
      ...(row.access !== 'public' && { 'X-API-Key': KEY_PLACEHOLDER }),
      ...Object.fromEntries(Object.entries(headers).map(([name, { example }]) => [name, example])),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: body.example }),
    answer: answerOf(row),
  }
}

function answerOf({ replies }: Operation): SampleRequest['answer'] {
  const [success] = Object.values(replies)
  if (success?.file !== undefined) return 'file'
  return success === undefined || success.schema === null ? 'nothing' : 'json'
}
