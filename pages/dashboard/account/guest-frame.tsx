import { Document, Mark } from '../../document.tsx'
import type { LayoutProps } from '../../layout.tsx'

/** The frame of pages for visitors who are not signed in: one form in the middle. */
export function GuestFrame({ instance, assets, title, children }: Omit<LayoutProps, 'path'>) {
  return (
    <Document title={`${title} · Meridian`} assets={assets}>
      <header class="bar">
        <Mark href={`${instance.base}/`} icon={assets.icon} />
      </header>
      <main id="content" class="guest">
        <section class="card">
          <h1>{title}</h1>
          {children}
        </section>
      </main>
    </Document>
  )
}
