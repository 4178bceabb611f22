import { Document, Mark } from '../../document.tsx'
import type { LayoutProps } from '../../layout.tsx'
import { PostForm } from '../../post-form.tsx'

/** The navigation at the side of a page. */
export interface Rail {
  /** Read out by screen readers. */
  readonly label: string
  readonly pages: readonly { readonly path: `/app${string}`; readonly text: string }[]
}

interface FrameProps extends LayoutProps {
  /** The name or address shown for the user. */
  readonly user: string
  readonly rail: Rail
}

/** The frame of every page for signed-in users: the user, the navigation and the heading. */
export function Frame({ instance, assets, title, path, user, rail, children }: FrameProps) {
  const { base } = instance
  return (
    <Document title={`${title} · Meridian`} assets={assets}>
      <header class="bar app-bar">
        <Mark href={`${base}/`} icon={assets.icon} />
        <PostForm action={`${base}/app/sign-out`} class="who">
          <span class="user">{user}</span>
          <button type="submit" class="quiet">
            Sign out
          </button>
        </PostForm>
      </header>
      <div class="app">
        <nav class="rail" aria-label={rail.label}>
          {rail.pages.map((page) => (
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

/** The first pages of navigations, whose paths begin those of all others. */
const ROOTS = ['/app', '/app/operate']

function isAt(path: string, page: string): boolean {
  return path === page || (!ROOTS.includes(page) && path.startsWith(`${page}/`))
}
