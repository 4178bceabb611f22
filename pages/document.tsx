import type { Child } from 'hono/jsx'

/** Paths of the files that a page loads. */
export interface PageAssets {
  readonly icon: string
  readonly font: string
  readonly styles: readonly string[]
  readonly scripts: readonly string[]
}

interface DocumentProps {
  readonly title: string
  /** For search engines and previews of links; absent on pages that are for their visitor alone. */
  readonly description?: string | undefined
  /** Absent: search engines may list the page. */
  readonly robots?: 'noindex' | undefined
  readonly assets: PageAssets
  readonly children?: Child
}

/** The HTML document of every page. Its children must include `main` with the id `content`. */
export function Document({ title, description, robots, assets, children }: DocumentProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {robots !== undefined && <meta name="robots" content={robots} />}
        {description !== undefined && <Preview title={title} description={description} />}
        <link rel="icon" type="image/svg+xml" href={assets.icon} />
        {/* It must be there at the first paint: it is not used later, so that no text moves. */}
        <link
          rel="preload"
          as="font"
          type="font/woff2"
          href={assets.font}
          crossorigin="anonymous"
        />
        {assets.styles.map((href) => (
          <link rel="stylesheet" href={href} />
        ))}
        {assets.scripts.map((src) => (
          <script defer src={src} />
        ))}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to content
        </a>
        {children}
      </body>
    </html>
  )
}

/** The Open Graph protocol (https://ogp.me). */
function Preview({ title, description }: Readonly<Record<'title' | 'description', string>>) {
  return (
    <>
      <meta name="description" content={description} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content="Meridian" />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
    </>
  )
}

/** The logo of Meridian, which links to a start page. */
export function Mark({ href, icon }: { readonly href: string; readonly icon: string }) {
  return (
    <a class="mark" href={href}>
      <img src={icon} alt="" width="24" height="24" />
      Meridian
    </a>
  )
}
