import type { Operation } from '../lib/contract/operation.ts'
import { Layout, type LayoutProps } from './layout.tsx'

interface DocsProps extends Pick<LayoutProps, 'instance' | 'assets'> {
  /** The base URL of the service, without a trailing slash. */
  readonly url: string
  readonly operations: readonly Operation[]
}

/** The API reference: a list of all operations, which the script replaces with Swagger UI. */
export function DocsPage({ instance, assets, url, operations }: DocsProps) {
  const byTag = [...Map.groupBy(operations, ({ tag }) => tag)]
  return (
    <Layout instance={instance} title="API reference · Meridian" path="/docs" assets={assets}>
      <main id="content">
        <section class="hero">
          <h1>API reference</h1>
          <p class="lead">
            Send requests to <code>{url}</code> with your API key in the header{' '}
            <code class="whole">X-API-Key</code>. To try an operation here, choose Authorize and
            enter your key, then open the operation and choose Execute.
          </p>
          <p>
            Tools can read this reference as an{' '}
            <a href={`${instance.base}/.well-known/openapi.json`}>OpenAPI 3.1 document</a>.
          </p>
        </section>
        <div id="reference" data-base={instance.base}>
          {byTag.map(([tag, rows]) => (
            <section>
              <h2>{tag}</h2>
              <ul class="operations">
                {rows.map(({ method, path, summary }) => (
                  <li>
                    <code>
                      {method.toUpperCase()} {path}
                    </code>
                    <span>{summary}</span>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </main>
    </Layout>
  )
}
