const ANSWER_MS = 10_000

/** Loads a page of the dashboard. Throws if the server answers with an error or another page. */
export async function fetchPage(url: string, signal?: AbortSignal): Promise<Document> {
  const signals = [AbortSignal.timeout(ANSWER_MS), ...(signal === undefined ? [] : [signal])]
  const response = await fetch(url, {
    headers: { accept: 'text/html' },
    signal: AbortSignal.any(signals),
  })
  // After the session has ended, the server redirects to the sign-in page.
  if (!response.ok || response.redirected) throw new Error(`Cannot load: ${response.status}`)
  return new DOMParser().parseFromString(await response.text(), 'text/html')
}
