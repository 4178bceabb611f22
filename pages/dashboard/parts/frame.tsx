import type { Child } from 'hono/jsx'
import { Document, Mark, type PageAssets } from '../document.tsx'
import type { Instance } from '../layout.tsx'

interface FrameProps {
  readonly instance: Instance
  readonly assets: PageAssets
  readonly title: string
  /** Of the page, without the base of the instance. */
  readonly path: string
  /** What the user is called. */
  readonly user: string
  readonly children?: Child
}

const PAGES = [
  { path: '/app', text: 'Overview' },
  { path: '/app/keys', text: 'Keys' },
  { path: '/app/sites', text: 'Sites' },
  { path: '/app/vitals', text: 'Web vitals' },
  { path: '/app/look-up', text: 'Look-up' },
  { path: '/app/batch', text: 'Batch' },
  { path: '/app/billing', text: 'Billing' },
  { path: '/app/audit', text: 'Audit log' },
  { path: '/app/account', text: 'Account' },
] as const

/** The frame of the pages of a user: who they are, the way to the other pages, one heading. */
export function Frame({ instance, assets, title, path, user, children }: FrameProps) {
  const { base } = instance
  return (
    <Document title={`${title} · Meridian`} assets={assets}>
      <header class="bar app-bar">
        <Mark href={`${base}/`} icon={assets.icon} />
        <form class="who" method="post" action={`${base}/app/sign-out`}>
          <span class="user">{user}</span>
          <button type="submit" class="quiet">
            Sign out
          </button>
        </form>
      </header>
      <div class="app">
        <nav class="rail" aria-label="Dashboard">
          {PAGES.map((page) => (
            <a
              href={`${base}${page.path}`}
              aria-current={isAt(path, page.path) ? 'page' : undefined}
            >
              {page.text}
            </a>
          ))}
        </nav>
        <main id="content">
          <h1>{title}</h1>
          {children}
        </main>
      </div>
      <footer class="bar">
        <span>Meridian {instance.version}</span>
        <nav aria-label="For programs">
          <a href={`${base}/docs`}>API reference</a>
        </nav>
      </footer>
    </Document>
  )
}

function isAt(path: string, page: string): boolean {
  return path === page || (page !== '/app' && path.startsWith(`${page}/`))
}
