import type { Child } from 'hono/jsx'
import { Document, Mark } from '../../document.tsx'
import { Icon, type IconName } from '../../icon.tsx'
import type { LayoutProps } from '../../layout.tsx'
import { PostForm } from '../../post-form.tsx'
import { type ChoiceLink, ChoiceLinks } from './choice-links.tsx'

/** The navigation at the side of a page. */
export interface Rail {
  /** Read out by screen readers. */
  readonly label: string
  readonly groups: readonly RailGroup[]
  /** The dashboard and the pages for operators, for those who may see both. */
  readonly areas: readonly (Pick<RailPage, 'path' | 'text'> & { readonly isChosen: boolean })[]
}

interface RailGroup {
  /** Absent: the pages before all groups. */
  readonly title?: string
  readonly pages: readonly RailPage[]
}

export type SiteLink = ChoiceLink & { readonly text: string }

interface RailPage {
  readonly path: `/app${string}`
  readonly text: string
  readonly icon: IconName
}

export interface FrameProps extends LayoutProps {
  /** The name or address shown for the user. */
  readonly user: string
  readonly rail: Rail
  /** Links to the same page of each of the user's sites; absent: the page is not about one site. */
  readonly sites?: readonly SiteLink[] | undefined
  /** Beside the heading: the main action of the page, or its filters. */
  readonly action?: Child
}

/** The frame of every page for signed-in users: the user, the navigation and the heading. */
export function Frame({ instance, assets, title, path, user, ...parts }: FrameProps) {
  const { base } = instance
  const { rail, sites, action, children } = parts
  return (
    <Document title={`${title} · Meridian`} assets={assets}>
      <header class="bar app-bar">
        <button type="button" class="quiet bare menu-button" popovertarget="menu">
          <Icon name="menu" />
          <span class="unseen">Menu</span>
        </button>
        <Mark href={`${base}/`} icon={assets.icon} />
        <a class="button quiet bare reference-link" href={`${base}/docs`}>
          <Icon name="book-open" />
          API reference
        </a>
        <AccountMenu base={base} user={user} />
      </header>
      <div class="app">
        <RailView base={base} path={path} rail={rail} />
        <main id="content">
          <PageHead title={title} sites={sites} action={action} />
          {children}
        </main>
      </div>
      <footer class="bar">
        <span>Meridian {instance.version}. Times and days are in UTC.</span>
        <nav aria-label="For developers">
          <a href={`${base}/docs`}>API reference</a>
        </nav>
      </footer>
    </Document>
  )
}

type PageHeadProps = Pick<FrameProps, 'title' | 'sites' | 'action'>

export function PageHead({ title, sites, action }: PageHeadProps) {
  return (
    <div class="page-head">
      <h1>{title}</h1>
      {sites !== undefined && <SiteMenu sites={sites} />}
      {action}
    </div>
  )
}

/** Who is signed in, and the way out. A popover needs no script, and closes by Escape and by a click elsewhere. */
function AccountMenu({ base, user }: { readonly base: string; readonly user: string }) {
  return (
    <>
      <button type="button" class="quiet bare who" popovertarget="who">
        <Icon name="circle-user-round" />
        <span class="unseen">Your account</span>
      </button>
      <div id="who" class="card" popover="auto">
        <p class="user">{user}</p>
        <a href={`${base}/app/account`}>
          <Icon name="circle-user-round" />
          Settings
        </a>
        <PostForm action={`${base}/app/sign-out`}>
          <button type="submit">
            <Icon name="log-out" />
            Sign out
          </button>
        </PostForm>
      </div>
    </>
  )
}

type RailViewProps = Pick<FrameProps, 'path' | 'rail'> & { readonly base: string }

/** At the side of wide screens; on narrow ones, the button of the bar opens it. */
function RailView({ base, path, rail }: RailViewProps) {
  return (
    <div id="menu" class="rail" popover="auto">
      {rail.areas.length > 0 && (
        <ChoiceLinks
          label="Area"
          look="switch"
          current="true"
          links={rail.areas.map((area) => ({ ...area, href: `${base}${area.path}` }))}
        />
      )}
      <nav class="groups" aria-label={rail.label}>
        {rail.groups.map(({ title, pages }) => (
          <>
            {title !== undefined && <h2>{title}</h2>}
            {pages.map((page) => (
              <a
                href={`${base}${page.path}`}
                aria-current={isAt(path, page.path) ? 'page' : undefined}
              >
                <Icon name={page.icon} />
                {page.text}
              </a>
            ))}
          </>
        ))}
      </nav>
    </div>
  )
}

/** The way from one site's page to those of the others. */
function SiteMenu({ sites }: { readonly sites: readonly SiteLink[] }) {
  const chosen = sites.find(({ isChosen }) => isChosen)
  if (sites.length < 2 && sites[0] === chosen) return null
  return (
    <>
      <button type="button" class="quiet site" popovertarget="site-menu">
        {chosen === undefined ? 'Choose a site' : 'Switch site'}
      </button>
      <div id="site-menu" class="card" popover="auto">
        <ChoiceLinks label="Your sites" look="groups" links={sites} />
      </div>
    </>
  )
}

/** The first pages of navigations, whose paths begin those of all others. */
const ROOTS = ['/app', '/app/operate']

function isAt(path: string, page: string): boolean {
  return path === page || (!ROOTS.includes(page) && path.startsWith(`${page}/`))
}
