import type { Child } from 'hono/jsx'

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

/** Paths of what the page loads. */
export interface PageAssets {
  readonly icon: string
  readonly styles: readonly string[]
  readonly scripts: readonly string[]
}

const LINKS = [
  { path: '/', text: 'Look up' },
  { path: '/docs', text: 'API reference' },
  { path: '/#plans', text: 'Plans' },
] as const

/** The frame of every page. Its child is `main` with the id `content`. */
export function Layout({ instance, title, path, assets, children }: LayoutProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" type="image/svg+xml" href={assets.icon} />
        {assets.styles.map((href) => (
          <link rel="stylesheet" href={href} />
        ))}
        {assets.scripts.map((src) => (
          <script defer src={src} />
        ))}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <Header instance={instance} path={path} icon={assets.icon} />
        {children}
        <Footer instance={instance} />
      </body>
    </html>
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
      <a class="mark" href={`${base}/`}>
        <img src={icon} alt="" width="24" height="24" />
        Meridian
      </a>
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
