import type { Child } from 'hono/jsx'
import { Document, Mark, type PageAssets } from '../document.tsx'
import type { Instance } from '../layout.tsx'

interface GuestFrameProps {
  readonly instance: Instance
  readonly assets: PageAssets
  readonly title: string
  readonly children?: Child
}

/** The frame of the pages by which people come in: one form in the middle. */
export function GuestFrame({ instance, assets, title, children }: GuestFrameProps) {
  return (
    <Document title={`${title} · Meridian`} assets={assets}>
      <header class="bar">
        <Mark href={`${instance.base}/`} icon={assets.icon} />
      </header>
      <main id="content" class="door">
        <section class="card">
          <h1>{title}</h1>
          {children}
        </section>
      </main>
    </Document>
  )
}
