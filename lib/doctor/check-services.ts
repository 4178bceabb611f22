import { verifyMail } from '../parts/mail.ts'
import { fetchReasonOf, reasonOf } from '../parts/reason.ts'
import { compareClocks } from './check-database.ts'
import { type Finding, ok, wrong } from './finding.ts'

const TIMEOUT_MS = 5_000

/** Checks that the auth service answers 200, as it must even if the caller is not signed in. */
export async function checkAuth(url: string, now: () => number): Promise<Finding[]> {
  const advice = 'check MERIDIAN_AUTH_URL: until it answers, no session can be used'
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
    return [wrong(`${url} does not answer: ${fetchReasonOf(error)}`, advice)]
  }
}

/** Checks that the mail server accepts our sign-in. Sends no mail. */
export async function checkMail(url: string): Promise<Finding[]> {
  const { host } = new URL(url)
  try {
    await verifyMail(url)
    return [ok(`${host} accepts mail`)]
  } catch (error) {
    return [wrong(`${host} accepts no mail: ${reasonOf(error)}`, 'check MERIDIAN_SMTP_URL')]
  }
}
