import { readJson } from '../../parts/parse.ts'

export interface RemoteCall {
  /** Relative to the address of the service. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body: unknown
}

export interface RemoteAnswer {
  readonly status: number
  readonly body: unknown
}

/**
 * Asks the auth service to sign a user in or out, for one of our pages. Rejects if the service cannot
 * be reached or does not answer with JSON.
 */
export type AskRemoteAuth = (call: RemoteCall) => Promise<RemoteAnswer>

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 64 * 1024

/** `url` is the address of the auth service, which runs better-auth, without a slash at the end. */
export function createAskRemoteAuth(url: string): AskRemoteAuth {
  // The fetch of Node.js sends `Sec-Fetch-Mode`, so better-auth requires an origin.
  const required = { 'content-type': 'application/json', origin: new URL(url).origin }
  return async ({ path, headers, body }) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...headers, ...required },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return { status: response.status, body: await readJson(response, MAX_ANSWER_BYTES) }
  }
}
