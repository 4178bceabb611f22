import type { Child } from 'hono/jsx'
import { Document, Mark, type PageAssets } from './document.tsx'

/** What every page is told of the instance. */
export interface Instance {
  /** Path below which the service is mounted, without a slash at the end; empty at the root. */
  readonly base: string
  readonly version: string
}

export interface LayoutProps {
  readonly instance: Instance
  readonly title: string
  readonly path: string
  readonly assets: PageAssets
  readonly children?: Child
}

const LINKS = [
  { path: '/', text: 'Look up' },
  { path: '/docs', text: 'API reference' },
  { path: '/#plans', text: 'Plans' },
  { path: '/app', text: 'Dashboard' },
] as const

/** The frame of every public page. Its child is `main` with the id `content`. */
export function Layout({ instance, title, path, assets, children }: LayoutProps) {
  return (
    <Document title={title} assets={assets}>
      <Header instance={instance} path={path} icon={assets.icon} />
      {children}
      <Footer instance={instance} />
    </Document>
  )
}

interface HeaderProps {
  readonly instance: Instance
  readonly path: string
  readonly icon: string
}

function Header({ instance: { base }, path, icon }: HeaderProps) {
  return (
    <header class="bar">
      <Mark href={`${base}/`} icon={icon} />
      <nav aria-label="Pages">
        {LINKS.map((link) => (
          <a href={`${base}${link.path}`} aria-current={link.path === path ? 'page' : undefined}>
            {link.text}
          </a>
        ))}
      </nav>
    </header>
  )
}

function Footer({ instance: { base, version } }: Pick<LayoutProps, 'instance'>) {
  return (
    <footer class="bar">
      <span>Meridian {version}</span>
      <nav aria-label="For programs">
        <a href={`${base}/v1`}>Service</a>
        <a href={`${base}/.well-known/openapi.json`}>OpenAPI</a>
        <a href={`${base}/v1/billing/plans`}>Plans as JSON</a>
        <a href={`${base}/health`}>Health</a>
      </nav>
    </footer>
  )
}
