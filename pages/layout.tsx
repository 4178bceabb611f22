import type { Child } from 'hono/jsx'
import { Document, Mark, type PageAssets } from './document.tsx'

/** The facts about the instance that every page needs. */
export interface Instance {
  /** Base path of the service, without a trailing slash; empty at the root. */
  readonly base: string
  readonly version: string
}

export interface LayoutProps {
  readonly instance: Instance
  readonly title: string
  readonly description?: string
  /** Path of the page, without the base path of the instance. */
  readonly path: string
  readonly assets: PageAssets
  readonly children?: Child
}

const LINKS = [
  { path: '/', text: 'Look up' },
  { path: '/docs', text: 'API reference' },
  { path: '/#plans', text: 'Plans' },
] as const

/** The frame of every public page. Its children must include `main` with the id `content`. */
export function Layout({
  instance: { base, version },
  title,
  description,
  path,
  assets,
  children,
}: LayoutProps) {
  return (
    <Document title={title} description={description} assets={assets}>
      <header class="bar">
        <Mark href={`${base}/`} icon={assets.icon} />
        <nav aria-label="Pages">
          {LINKS.map((link) => (
            <a
              href={`${base}${link.path}`}
              aria-current={isWithin(path, link.path) ? 'page' : undefined}
            >
              {link.text}
            </a>
          ))}
          {/* Public pages are the same for everybody: guests are asked to sign in there, others are not. */}
          <a href={`${base}/app`}>{path === '/' ? 'Sign in' : 'Dashboard'}</a>
        </nav>
      </header>
      {children}
      <footer class="bar">
        <span>Meridian {version}</span>
        <nav aria-label="For developers">
          <a href={`${base}/v1`}>Service as JSON</a>
          <a href={`${base}/.well-known/openapi.json`}>OpenAPI</a>
          <a href={`${base}/v1/billing/plans`}>Plans as JSON</a>
          <a href={`${base}/health`}>Health</a>
        </nav>
      </footer>
    </Document>
  )
}

/** Whether the path is the linked one, or below it. */
function isWithin(path: string, linked: string): boolean {
  return path === linked || (linked !== '/' && path.startsWith(`${linked}/`))
}
