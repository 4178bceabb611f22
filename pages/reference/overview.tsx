import { counted } from '../dashboard/parts/format.ts'
import { contents, type Entry, guidePath } from './contents.ts'
import { Method } from './operation.tsx'
import { SampleTabs } from './sample-tabs.tsx'
import type { Sample } from './samples/samples.ts'

interface OverviewProps {
  /** Base path of the service. */
  readonly base: string
  /** Base URL of the service. */
  readonly url: string
  /** Programs that look up an address. */
  readonly samples: readonly Sample[]
}

/** The first page of the reference: how to send a first request, and all pages. */
export function Overview({ base, url, samples }: OverviewProps) {
  return (
    <main id="content">
      <section>
        <h1>API reference</h1>
        <p class="lead">
          Send requests to <code>{url}</code> with your API key in the header{' '}
          <code class="whole">X-API-Key</code>. Answers are JSON.
        </p>
      </section>
      <section>
        <h2>Quick start</h2>
        <ol class="steps">
          <li>
            <a href={`${base}/app/keys`}>Create a key</a> in the dashboard.
          </li>
          <li>Send it with an address, as below.</li>
          <li>
            Read what <a href={`${base}${guidePath('errors')}`}>errors</a> and{' '}
            <a href={`${base}${guidePath('limits')}`}>limits</a> mean before you go live.
          </li>
        </ol>
      </section>
      <SampleTabs samples={samples} needsKey />
      {contents().map(({ title, entries }) => (
        <section>
          <h2>{title}</h2>
          <ShortList base={base} entries={entries} />
        </section>
      ))}
      <p>
        Tools can read the same as an{' '}
        <a href={`${base}/.well-known/openapi.json`}>OpenAPI 3.1 document</a>.
      </p>
    </main>
  )
}

interface SearchResultsProps {
  readonly base: string
  readonly query: string
  readonly found: readonly Entry[]
}

export function SearchResults({ base, query, found }: SearchResultsProps) {
  return (
    <main id="content">
      <section>
        <h1>Search</h1>
        <p>
          {found.length === 0
            ? 'No page contains'
            : counted(found.length, 'page contains', 'pages contain')}{' '}
          <q>{query}</q>.
        </p>
        <EntryList base={base} entries={found} />
        <p>
          <a href={`${base}/docs`}>All pages</a>
        </p>
      </section>
    </main>
  )
}

interface EntryListProps {
  readonly base: string
  readonly entries: readonly Entry[]
}

/** Longer groups are folded, so that a reader sees all groups. */
const MOST_SHOWN = 10

function ShortList({ base, entries }: EntryListProps) {
  if (entries.length <= MOST_SHOWN) return <EntryList base={base} entries={entries} />
  return (
    <details>
      <summary>{entries.length} operations</summary>
      <EntryList base={base} entries={entries} />
    </details>
  )
}

function EntryList({ base, entries }: EntryListProps) {
  return (
    <ul class="operations">
      {entries.map(({ path, title, about, call }) => (
        <li>
          <a href={`${base}${path}`}>
            {title} {about !== undefined && <span>{about}</span>}
            {call !== undefined && (
              <span>
                <Method method={call.method} /> <code>{call.path}</code>
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  )
}
