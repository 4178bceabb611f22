import { Document, Mark } from '../../document.tsx'
import type { LayoutProps } from '../../layout.tsx'

/** The frame of the page that a link shows to anybody: nothing in it is about an account. */
export function SharedFrame({ instance, assets, title, children }: Omit<LayoutProps, 'path'>) {
  return (
    <Document title={`${title} · Meridian`} assets={assets} robots="noindex">
      <header class="bar app-bar">
        <Mark href={`${instance.base}/`} icon={assets.icon} />
      </header>
      <div class="app">
        <main id="content">
          <h1>{title}</h1>
          {children}
        </main>
      </div>
      <footer class="bar">
        <span>Meridian {instance.version}</span>
      </footer>
    </Document>
  )
}
