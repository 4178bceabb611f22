import { readJson } from '../parse.ts'

export interface RemoteCall {
  /** Below the address of the service. */
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
 * Asks the auth service to sign somebody in or out, for a page of ours. Rejects where it is not
 * there, or what answers is something else.
 */
export type AskRemoteAuth = (call: RemoteCall) => Promise<RemoteAnswer>

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 64 * 1024

/** `url` is the address of the auth service, a better-auth, without a slash at the end. */
export function createAskRemoteAuth(url: string): AskRemoteAuth {
  // The fetch of Node.js tells that it is no page, and is then asked for an origin.
  const own = { 'content-type': 'application/json', origin: new URL(url).origin }
  return async ({ path, headers, body }) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...headers, ...own },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const answer = await readJson(response, MAX_ANSWER_BYTES)
    return { status: response.status, body: answer }
  }
}
