import { compareClocks } from './check-database.ts'
import { type Finding, ok, reasonOf, wrong } from './finding.ts'

const TIMEOUT_MS = 5_000

/** Whether the auth service answers as it must where nobody is signed in: 200. */
export async function checkAuth(url: string, now: () => number): Promise<Finding[]> {
  const advice = 'see to MERIDIAN_AUTH_URL: until it answers, no session can be used'
  try {
    const answer = await fetch(`${url}/api/auth/get-session`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body?.cancel()
    const clock = compareClocks(url, answer.headers.get('date'), now())
    if (answer.status === 200) return [ok(`${url} answers`), ...clock]
    return [wrong(`${url} answers ${answer.status} instead of 200`, advice), ...clock]
  } catch (error) {
    // `fetch` hides in a cause what went wrong.
    const cause = error instanceof Error ? (error.cause ?? error) : error
    return [wrong(`${url} does not answer: ${reasonOf(cause)}`, advice)]
  }
}
