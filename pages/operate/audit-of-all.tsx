import type { AuditLogEntry } from '../../lib/contract/account/account-schemas.ts'
import { ActionSelect } from '../dashboard/audit/action-select.tsx'
import { AuditEntry } from '../dashboard/audit/audit-entry.tsx'
import { Empty } from '../dashboard/parts/empty.tsx'
import { Field } from '../dashboard/parts/field.tsx'
import type { PageProps } from '../dashboard/parts/notice.tsx'
import { Matches } from './matches.tsx'
import { personPath } from './person-view.ts'

/** Empty: all. */
interface AuditFilter {
  readonly action: string
  /** E-mail address or id. */
  readonly user: string
  /** YYYY-MM-DD, both inclusive. */
  readonly from: string
  readonly to: string
}

interface AuditOfAllProps extends PageProps {
  readonly filter: AuditFilter
  /** With the address of the user in whose log it is; null: the user is deleted. */
  readonly entries: readonly (AuditLogEntry & { readonly email: string | null })[]
  /** Where the next page begins; null: there is none. */
  readonly next: string | null
}

export function AuditOfAll({ base, filter, entries, next }: AuditOfAllProps) {
  const path = `${base}/app/operate/audit`
  const query = next === null ? null : { ...filter, before: next }
  return (
    <>
      <FilterForm path={path} filter={filter} />
      <Matches
        shown={entries.length}
        nouns={['entry', 'entries']}
        path={path}
        query={query}
        csv={{ ...filter }}
      >
        {entries.length === 0 ? (
          <Empty icon="scroll-text" title="No entries match">
            <a href={path}>Show all entries</a>
          </Empty>
        ) : (
          <ol class="card entries">
            {entries.map((entry) => (
              <AuditEntry
                entry={entry}
                account={{ email: entry.email, path: personPath(base, entry.actor_id) }}
              />
            ))}
          </ol>
        )}
      </Matches>
    </>
  )
}

interface FilterFormProps {
  readonly path: string
  readonly filter: AuditFilter
}

function FilterForm({ path, filter: { action, user, from, to } }: FilterFormProps) {
  return (
    <form class="filters" method="get" data-filter action={path}>
      <Field name="user" label="E-mail address or id" type="search" value={user} maxlength={320} />
      <ActionSelect chosen={action} ofAllUsers />
      <Field name="from" label="From (UTC)" type="date" value={from} />
      <Field name="to" label="Until (UTC)" type="date" value={to} />
      <button type="submit" class="quiet">
        Filter
      </button>
    </form>
  )
}
