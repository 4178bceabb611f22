import type { Reply } from './look-up-rows.ts'

/** What the page answers to its script. */
interface Body {
  readonly results?: readonly object[]
  readonly meta?: { readonly degraded: boolean }
  readonly error?: { readonly message: string }
}

export interface BatchQuestion {
  readonly ips: readonly string[]
  readonly fields: readonly string[]
}

export type BatchReply = Reply & { readonly degraded?: boolean }

const TIMEOUT_MS = 60_000

/** Asks the page for a part of a batch. Throws an Error with the reason where it has none. */
export async function askBatch(
  path: string,
  question: BatchQuestion,
  signal: AbortSignal,
): Promise<BatchReply> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(question),
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch(() => {
    throw new Error('The service cannot be reached.')
  })
  if (response.type === 'opaqueredirect') {
    throw new Error('You are signed out. Sign in again in another tab, then go on.')
  }
  if (response.status === 429) {
    return { kind: 'wait', seconds: Number(response.headers.get('retry-after') ?? 60) }
  }
  const { results, meta, error } = await readBody(response)
  if (results === undefined) {
    throw new Error(`${error?.message ?? `The service answered ${response.status}`}.`)
  }
  return { kind: 'answered', results, degraded: meta?.degraded === true }
}

async function readBody(response: Response): Promise<Body> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return isJson ? response.json() : {}
}
