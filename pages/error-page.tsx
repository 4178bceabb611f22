import { Layout, type LayoutProps } from './layout.tsx'

interface ErrorPageProps extends Pick<LayoutProps, 'instance' | 'assets' | 'title'> {
  readonly text: string
  readonly requestId: string
}

/** Shown instead of the requested page when something goes wrong. */
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
          <p class="request">Request ID: {requestId}</p>
        </section>
      </main>
    </Layout>
  )
}
