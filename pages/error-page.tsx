import type { PageAssets } from './document.tsx'
import { type Instance, Layout } from './layout.tsx'

export interface ErrorPageProps {
  readonly instance: Instance
  readonly assets: PageAssets
  readonly title: string
  readonly text: string
  readonly requestId: string
}

/** What a person sees instead of the page asked for. */
export function ErrorPage({ instance, assets, title, text, requestId }: ErrorPageProps) {
  return (
    <Layout instance={instance} title={`${title} · Meridian`} path="" assets={assets}>
      <main id="content">
        <section class="hero">
          <h1>{title}</h1>
          <p class="lead">{text}</p>
          <p>
            <a href={`${instance.base}/`}>Look up an address</a> or read the{' '}
            <a href={`${instance.base}/docs`}>API reference</a>.
          </p>
          <p class="request">Request {requestId}</p>
        </section>
      </main>
    </Layout>
  )
}
