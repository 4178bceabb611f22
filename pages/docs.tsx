import type { Operation } from '../lib/contract/operation.ts'
import type { PageAssets } from './document.tsx'
import { type Instance, Layout } from './layout.tsx'

export interface DocsProps {
  readonly instance: Instance
  readonly assets: PageAssets
  /** Of the service, without a slash at the end. */
  readonly url: string
  readonly operations: readonly Operation[]
}

/** The API reference: a list of all operations, in whose place the script puts one to try them. */
export function DocsPage({ instance, assets, url, operations }: DocsProps) {
  const byTag = [...Map.groupBy(operations, ({ tag }) => tag)]
  return (
    <Layout instance={instance} title="API reference · Meridian" path="/docs" assets={assets}>
      <main id="content">
        <section class="hero">
          <h1>API reference</h1>
          <p class="lead">
            Requests go to <code>{url}</code> with an API key in the header{' '}
            <code class="whole">X-API-Key</code>. To send them from here, choose Authorize, type
            your key, open an operation and choose Execute.
          </p>
          <p>
            For tools there is the same as an{' '}
            <a href={`${instance.base}/.well-known/openapi.json`}>OpenAPI 3.1 document</a>.
          </p>
        </section>
        <div id="reference" data-base={instance.base}>
          {byTag.map(([tag, rows]) => (
            <section>
              <h2>{tag}</h2>
              <OperationList rows={rows} />
            </section>
          ))}
        </div>
      </main>
    </Layout>
  )
}

function OperationList({ rows }: { readonly rows: readonly Operation[] }) {
  return (
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
  )
}
