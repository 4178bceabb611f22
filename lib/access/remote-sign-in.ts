/** Asks the auth service to sign somebody in or out, for a page of ours. Throws where it is not there. */
export type AskRemoteAuth = (
  path: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
) => Promise<Response>

const TIMEOUT_MS = 10_000

/** `url` is the address of the auth service, a better-auth, without a slash at the end. */
export function createAskRemoteAuth(url: string): AskRemoteAuth {
  // The fetch of Node.js tells that it is no page, and is then asked for an origin.
  const own = { 'content-type': 'application/json', origin: new URL(url).origin }
  return (path, headers, body) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...headers, ...own },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
}
