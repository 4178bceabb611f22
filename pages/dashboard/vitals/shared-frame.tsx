import { Document, Mark } from '../../document.tsx'
import { type FrameProps, PageHead } from '../parts/frame.tsx'

type SharedFrameProps = Omit<FrameProps, 'path' | 'user' | 'rail'>

/** The frame of the page that a link shows to anybody: nothing in it is about an account. */
export function SharedFrame({ instance, assets, title, action, children }: SharedFrameProps) {
  return (
    <Document title={`${title} · Meridian`} assets={assets} robots="noindex">
      <header class="bar app-bar">
        <Mark href={`${instance.base}/`} icon={assets.icon} />
      </header>
      <div class="app">
        <main id="content">
          <PageHead title={title} action={action} />
          {children}
        </main>
      </div>
      <footer class="bar">
        <span>Meridian {instance.version}. Times and days are in UTC.</span>
      </footer>
    </Document>
  )
}
