import { ApiError } from '../../../lib/parts/errors.ts'
import { SignedOut } from '../../../pages/dashboard/account/signed-out.tsx'
import type { PageAnswer } from '../../pages/page.ts'
import { redirectTo, showGuestPage } from './answer.ts'
import { expiredCookie } from './cookies.ts'
import { readForm } from './form.ts'
import type { Visit } from './visit.ts'

const SIGN_IN_PATH = '/app/sign-in'

/**
 * Answers a visitor without a session. A form is kept on a page, so that nothing typed is lost; scripts and
 * all other requests are redirected to the sign-in page.
 */
export async function askToSignIn(visit: Visit): Promise<PageAnswer> {
  const { c, instance, services } = visit
  const isForm = (c.req.header('content-type') ?? '').startsWith(FORM_TYPE)
  if (c.req.method !== 'POST' || !isForm) return redirectToSignIn(visit)
  const { path } = c.req
  const { allowSignUp, authUrl } = services.config
  const content = SignedOut({
    base: instance.base,
    path,
    fields: hasSecrets(path) ? null : await readFields(visit),
    page: pageOf(visit),
    allowSignUp: allowSignUp && authUrl === undefined,
  })
  const page = await showGuestPage(visit, { title: 'Sign in first', content, status: 401 })
  return { ...page, cookies: [expiredCookie(services)] }
}

export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The forms that ask for a password or a code are those of the account. */
function hasSecrets(path: string): boolean {
  return path.startsWith('/app/account/') && path !== '/app/account/name'
}

/** null if the form is too large to be kept. */
async function readFields({ c }: Visit): Promise<[string, string][] | null> {
  try {
    return (await readForm(c)).entries()
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/** The page from which the form was sent. */
function pageOf({ c, instance }: Visit): `/app${string}` {
  const { pathname = '', search = '' } = URL.parse(c.req.header('referer') ?? '') ?? {}
  return safeNext(`${pathname.slice(instance.base.length)}${search}`)
}

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
