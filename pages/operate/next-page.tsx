interface NextPageProps {
  /** Path of the list. */
  readonly path: string
  /** Query of the next page; empty values are left out. null: there is no next page. */
  readonly query: Readonly<Record<string, string>> | null
}

/** The link to the next page of a list, which keeps its filter. */
export function NextPage({ path, query }: NextPageProps) {
  if (query === null) return null
  const given = Object.entries(query).filter(([, value]) => value !== '')
  return (
    <nav class="actions pages" aria-label="Pages">
      <a class="button quiet" href={`${path}?${new URLSearchParams(given)}`}>
        Next
      </a>
    </nav>
  )
}
