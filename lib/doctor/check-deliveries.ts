import { counted } from './check-age.ts'
import { type Finding, ok, warning } from './finding.ts'

/** Checks that inquiries reach the operator. `failed`: how many were given up after days. */
export function checkInquiries(failed: number): Finding {
  if (failed === 0) return ok('No inquiry is undelivered')
  const text = failed === 1 ? '1 inquiry reached nobody' : `${failed} inquiries reached nobody`
  return warning(text, '/app/operate/inquiries?state=dead says why, and queues them again')
}

/** The same for notices about limits, which go to users and to the webhook. */
export function checkNotices(failed: number): Finding {
  if (failed === 0) return ok('No notice about a limit is undelivered')
  const text = `${counted(failed, 'notice')} about a limit reached nobody`
  return warning(text, '/app/operate/notices?state=dead says why, and queues them again')
}
