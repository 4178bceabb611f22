import type { Child } from 'hono/jsx'
import { counted } from '../dashboard/parts/format.ts'
import { CsvLink, NextPage, type NextPageProps } from './next-page.tsx'

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
