import type { Child } from 'hono/jsx'
import type { AssetName } from '../../../lib/assets/page-assets.ts'
import { GuestFrame } from '../../../pages/dashboard/account/guest-frame.tsx'
import { Frame, type Rail, type SiteLink } from '../../../pages/dashboard/parts/frame.tsx'
import { OPERATE_RAIL, OPERATOR_RAIL, USER_RAIL } from '../../../pages/dashboard/parts/rails.ts'
import type { PageAnswer } from '../../pages/page.ts'
import { pageAssets } from '../../pages/page-assets.ts'
import type { UserVisit, Visit } from './visit.ts'

interface Page {
  readonly title: string
  readonly content: Child
  /** Default: 200. */
  readonly status?: number
  /** Beside the heading: the main action of the page, or its filters. */
  readonly action?: Child
  /** Links to the same page of each of the user's sites; absent: the page is not about one site. */
  readonly sites?: readonly SiteLink[]
  /** Scripts and styles that this page loads in addition to the common ones. */
  readonly assets?: readonly AssetName[]
}

/** Answers a signed-in user with a page of the dashboard. */
export async function showPage(visit: UserVisit, page: Page): Promise<PageAnswer> {
  return showInFrame(visit, page, visit.isOperator ? OPERATOR_RAIL : USER_RAIL)
}

/** Answers an operator with a page below /app/operate. */
export async function showOperatePage(visit: UserVisit, page: Page): Promise<PageAnswer> {
  return showInFrame(visit, page, OPERATE_RAIL)
}

async function showInFrame(visit: UserVisit, page: Page, rail: Rail): Promise<PageAnswer> {
  const { instance, c, me } = visit
  const { title, content, action, sites, status = 200, assets = [] } = page
  const loaded = await pageAssets(instance.base, 'app.css', 'app.js', ...assets)
  const user = me.email ?? me.name ?? me.id
  const frame = { instance, assets: loaded, title, path: c.req.path, user, rail, sites, action }
  return { status, html: Frame({ ...frame, children: content }) }
}

/** Answers with a page for visitors who are not signed in, such as the sign-in form. */
export async function showGuestPage(
  { instance }: Visit,
  { title, content, status = 200 }: Omit<Page, 'assets'>,
): Promise<PageAnswer> {
  const assets = await pageAssets(instance.base, 'app.css')
  return { status, html: GuestFrame({ instance, assets, title, children: content }) }
}

/** Redirects to another page of the dashboard (303, so the browser follows with GET). */
export function redirectTo(
  { instance }: Pick<Visit, 'instance'>,
  path: `/app${string}`,
  cookies: readonly string[] = [],
): PageAnswer {
  return { status: 303, html: null, headers: { location: `${instance.base}${path}` }, cookies }
}
