import type { Child } from 'hono/jsx'
import { counted } from '../dashboard/parts/format.ts'
import { addressOf, PageLink, PageLinks } from '../dashboard/parts/page-links.tsx'

export interface NextPageProps {
  /** Path of the list. */
  readonly path: string
  /** The filter and where the next page begins. null: there is no next page. */
  readonly query: Readonly<Record<string, string>> | null
}

interface MatchesProps extends NextPageProps {
  /** How many rows this page of the list shows. */
  readonly shown: number
  /** What a row is, in the singular and in the plural. */
  readonly nouns: readonly [string, string]
  /** The filter of the list as a file. Absent: there is no such file. */
  readonly csv?: Readonly<Record<string, string>>
  readonly children?: Child
}

/** A page of a list with a filter. The script replaces it when the user changes the filter. */
export function Matches({ shown, nouns, path, query, csv, children }: MatchesProps) {
  return (
    <>
      <p class="soft" id="summary" role="status">
        {counted(shown, ...nouns)}
        {query !== null && ' on this page'}{' '}
        {csv !== undefined && <CsvLink path={path} filter={csv} />}
      </p>
      <div id="report">
        {children}
        <NextPage path={path} query={query} />
      </div>
    </>
  )
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
