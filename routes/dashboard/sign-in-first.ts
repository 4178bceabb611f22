import type { PageAnswer } from '../page.ts'
import { leadTo } from './answer.ts'
import { endedCookie } from './session-cookie.ts'
import type { GuestVisit } from './visit.ts'

const SIGN_IN_PATH = '/app/sign-in'

/** Leads to the sign-in, and from there back to where the visitor wanted to go. */
export function askToSignIn(visit: GuestVisit): PageAnswer {
  const { services, c } = visit
  const { pathname, search } = new URL(c.req.url)
  // What was typed into a form is lost: the page it belongs to is the best there is.
  const next = c.req.method === 'POST' ? '/app' : `${pathname}${search}`
  const query = next === '/app' ? '' : `?${new URLSearchParams({ next })}`
  return leadTo(visit, `${SIGN_IN_PATH}${query}`, { 'set-cookie': endedCookie(services) })
}

/**
 * A path of the dashboard that somebody else may have written: '/app' unless it is one. It goes into
 * a header: what a query may have is written plainly there, or percent-encoded.
 */
export function toNext(text: string | undefined): `/app${string}` {
  // safe: the expression says so
  return text !== undefined && /^\/app(\/[\w/-]*)?(\?[!-"$-[\]-~]*)?$/.test(text)
    ? (text as `/app${string}`)
    : '/app'
}
