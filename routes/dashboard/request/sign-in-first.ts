import type { PageAnswer } from '../../pages/page.ts'
import { redirectTo } from './answer.ts'
import { expiredCookie } from './cookies.ts'
import type { Visit } from './visit.ts'

const SIGN_IN_PATH = '/app/sign-in'

/** Redirects to the sign-in page, which then leads back to the requested page. */
export function redirectToSignIn(visit: Visit): PageAnswer {
  const { services, c } = visit
  const { pathname, search } = new URL(c.req.url)
  // A submitted form is lost, so the visitor starts again at the overview.
  const next = c.req.method === 'POST' ? '/app' : `${pathname}${search}`
  const query = next === '/app' ? '' : `?${new URLSearchParams({ next })}`
  return redirectTo(visit, `${SIGN_IN_PATH}${query}`, [expiredCookie(services)])
}

/**
 * Returns the text if it is a path of the dashboard, else '/app'. The text is untrusted and ends up in
 * a Location header, so only printable ASCII passes.
 */
export function safeNext(text: string | undefined): `/app${string}` {
  // safe: the expression checks it
  return text !== undefined && /^\/app(\/[\w/-]*)?(\?[!-"$-[\]-~]*)?$/.test(text)
    ? (text as `/app${string}`)
    : '/app'
}
