import type { AuditList } from '../../../lib/contract/account/account-schemas.ts'
import { Empty } from '../parts/empty.tsx'
import { Field } from '../parts/field.tsx'
import { count, counted } from '../parts/format.ts'
import { type PageProps, Result } from '../parts/notice.tsx'
import { PageLink, PageLinks } from '../parts/page-links.tsx'
import { ActionSelect } from './action-select.tsx'
import { AuditEntry } from './audit-entry.tsx'

export interface AuditFilter {
  /** Empty: all. */
  readonly action: string
  readonly search: string
  /** From 1. */
  readonly page: number
}

interface AuditProps extends PageProps {
  readonly filter: AuditFilter
  /** null if the API answered with an error. */
  readonly list: AuditList | null
}

export function Audit({ base, filter, list, error }: AuditProps) {
  return (
    <>
      <Result error={error} />
      <FilterForm base={base} filter={filter} />
      {list !== null && <Entries base={base} filter={filter} list={list} />}
    </>
  )
}

type FilterProps = Pick<AuditProps, 'base' | 'filter'>

function FilterForm({ base, filter: { action, search } }: FilterProps) {
  return (
    <form class="filters" method="get" data-filter action={`${base}/app/audit`}>
      <ActionSelect chosen={action} />
      <Field
        name="search"
        label="Search the entries"
        type="search"
        value={search}
        maxlength={200}
      />
      <button type="submit" class="quiet">
        Filter
      </button>
    </form>
  )
}

interface EntriesProps extends FilterProps {
  readonly list: AuditList
}

function Entries({ base, filter, list }: EntriesProps) {
  const isFiltered = filter.action !== '' || filter.search !== ''
  return (
    <>
      <p class="soft" id="summary" role="status">
        {counted(list.total, 'entry', 'entries')}, newest first. Times are in UTC.{' '}
        {isFiltered && <a href={`${base}/app/audit`}>Show all entries</a>}
      </p>
      <div id="report">
        {list.logs.length === 0 ? (
          <Empty
            icon="scroll-text"
            title={list.total === 0 ? 'No entries match' : `There is no page ${count(filter.page)}`}
          >
            <a href={`${base}/app/audit`}>Show the newest entries</a>
          </Empty>
        ) : (
          <ol class="card entries">
            {list.logs.map((entry) => (
              <AuditEntry entry={entry} />
            ))}
          </ol>
        )}
        <Pages base={base} filter={filter} list={list} />
      </div>
    </>
  )
}

function Pages({ base, filter, list: { total, limit } }: EntriesProps) {
  const last = Math.ceil(total / limit)
  const { page, action, search } = filter
  if (last === 0 || (last === 1 && page === 1)) return null
  const at = (to: number) => ({
    path: `${base}/app/audit`,
    query: { action, search, page: to > 1 ? String(to) : '' },
  })
  return (
    <PageLinks>
      {page > 1 && <PageLink {...at(1)} text="First" />}
      {page > 1 && <PageLink {...at(Math.min(page - 1, last))} text="Previous" />}
      <span class="soft">
        {page > last ? counted(last, 'page', 'pages') : `Page ${count(page)} of ${count(last)}`}
      </span>
      {page < last && <PageLink {...at(page + 1)} text="Next" />}
      {page < last && <PageLink {...at(last)} text="Last" />}
    </PageLinks>
  )
}
