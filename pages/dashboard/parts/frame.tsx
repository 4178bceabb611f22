import { Document, Mark } from '../../document.tsx'
import type { LayoutProps } from '../../layout.tsx'

interface FrameProps extends LayoutProps {
  /** The name or address shown for the user. */
  readonly user: string
}

const PAGES = [
  { path: '/app', text: 'Overview' },
  { path: '/app/keys', text: 'Keys' },
  { path: '/app/sites', text: 'Sites' },
  { path: '/app/vitals', text: 'Web vitals' },
  { path: '/app/look-up', text: 'Look up' },
  { path: '/app/batch', text: 'Batch look-up' },
  { path: '/app/billing', text: 'Billing' },
  { path: '/app/audit', text: 'Audit log' },
  { path: '/app/account', text: 'Account' },
] as const

/** The frame of every page for signed-in users: the user, the navigation and the heading. */
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
        <nav aria-label="For developers">
          <a href={`${base}/docs`}>API reference</a>
        </nav>
      </footer>
    </Document>
  )
}

function isAt(path: string, page: string): boolean {
  return path === page || (page !== '/app' && path.startsWith(`${page}/`))
}
