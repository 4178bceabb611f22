import { addressOf, PageLink, PageLinks } from '../dashboard/parts/page-links.tsx'

export interface NextPageProps {
  /** Path of the list. */
  readonly path: string
  /** The filter and where the next page begins. null: there is no next page. */
  readonly query: Readonly<Record<string, string>> | null
}

interface CsvLinkProps {
  /** Path of the list. */
  readonly path: string
  readonly filter: Readonly<Record<string, string>>
}

/** The link to the whole list as a file. */
export function CsvLink({ path, filter }: CsvLinkProps) {
  return <a href={addressOf(`${path}.csv`, filter)}>Download as CSV</a>
}

/** The link to the next page of a list, which keeps its filter. */
export function NextPage({ path, query }: NextPageProps) {
  if (query === null) return null
  return (
    <PageLinks>
      <PageLink path={path} query={query} text="Next" />
    </PageLinks>
  )
}
