import type { Child } from 'hono/jsx'
import type { AssetName } from '../../lib/page-assets.ts'
import { Frame } from '../../pages/dashboard/frame.tsx'
import { GuestFrame } from '../../pages/dashboard/guest-frame.tsx'
import type { PageAnswer } from '../page.ts'
import { pageAssets } from '../page-assets.ts'
import type { Headers } from '../respond.ts'
import type { GuestVisit, UserVisit } from './visit.ts'

interface Page {
  readonly title: string
  readonly content: Child
  /** 200 unless told. */
  readonly status?: number
  /** Loaded beside what all pages of the dashboard load. */
  readonly assets?: readonly AssetName[]
}

/** Answers with a page of the dashboard. */
export async function showPage(visit: UserVisit, page: Page): Promise<PageAnswer> {
  const { instance, c, me } = visit
  const { title, content, status = 200, assets = [] } = page
  const loaded = await pageAssets(instance.base, 'app.css', 'app.js', ...assets)
  const user = me.email ?? me.name ?? me.id
  const frame = { instance, assets: loaded, title, path: c.req.path, user }
  return { status, html: Frame({ ...frame, children: content }) }
}

/** Answers with a page by which people come in. */
export async function showDoor(
  { instance }: GuestVisit,
  { title, content, status = 200 }: Omit<Page, 'assets'>,
): Promise<PageAnswer> {
  const assets = await pageAssets(instance.base, 'app.css')
  return { status, html: GuestFrame({ instance, assets, title, children: content }) }
}

/** Leads on to another page of the dashboard, by GET. */
export function leadTo(
  { instance }: Pick<GuestVisit, 'instance'>,
  path: `/app${string}`,
  headers: Readonly<Headers> = {},
): PageAnswer {
  return { status: 303, html: null, headers: { ...headers, location: `${instance.base}${path}` } }
}
