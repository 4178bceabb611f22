import { contents, type Entry } from './contents.ts'

interface SearchFormProps {
  /** Base path of the service. */
  readonly base: string
  /** The text of the search that the page answers; empty if there is none. */
  readonly query: string
}

/** Asks the server. With the script, it filters the list of pages as you type. */
export function SearchForm({ base, query }: SearchFormProps) {
  return (
    <search>
      <form class="find field" action={`${base}/docs`}>
        <label for="q">Search the reference</label>
        <div class="row">
          <input
            id="q"
            type="search"
            name="q"
            value={query}
            placeholder="Name or field"
            autocomplete="off"
            data-index={`${base}/docs/search.json`}
          />
          <button type="submit" class="quiet">
            Search
          </button>
        </div>
        <p class="hint" id="found" role="status" />
      </form>
    </search>
  )
}

interface PageListProps {
  readonly base: string
  /** Path of the current page, below the base path. */
  readonly path: string
}

/** All pages by group. The group of the current page is open; on narrow screens the whole is folded. */
export function PageList({ base, path }: PageListProps) {
  const overview = { path: '/docs', title: 'Overview' }
  return (
    <details class="pages">
      <summary>All pages</summary>
      <nav aria-label="Reference">
        <PageLink base={base} isCurrent={path === overview.path} entry={overview} />
        {contents().map(({ title, entries }) => (
          <details open={entries.some((entry) => entry.path === path)}>
            <summary>{title}</summary>
            <ul>
              {entries.map((entry) => (
                <li>
                  <PageLink base={base} isCurrent={path === entry.path} entry={entry} />
                </li>
              ))}
            </ul>
          </details>
        ))}
      </nav>
    </details>
  )
}

interface PageLinkProps {
  readonly base: string
  readonly isCurrent: boolean
  readonly entry: Entry
}

function PageLink({ base, isCurrent, entry: { path, title, call } }: PageLinkProps) {
  return (
    <a href={`${base}${path}`} data-path={path} aria-current={isCurrent ? 'page' : undefined}>
      {title}{' '}
      {call !== undefined && (
        <span class={`method ${call.method}`}>{SHORT[call.method] ?? call.method}</span>
      )}
    </a>
  )
}

const SHORT: Readonly<Record<string, string>> = { delete: 'del' }
