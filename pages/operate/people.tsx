import type { Person } from '../../lib/accounts/people.ts'
import { Field } from '../dashboard/parts/field.tsx'
import { Time } from '../dashboard/parts/time.tsx'
import { Table } from '../table.tsx'

export interface PeopleFilter {
  /** Beginning of the e-mail address; empty: all. */
  readonly search: string
}

interface PeopleProps {
  readonly base: string
  readonly filter: PeopleFilter
  readonly people: readonly Person[]
  /** Where the next page begins; null: there is none. */
  readonly next: string | null
}

export function People({ base, filter, people, next }: PeopleProps) {
  const path = `${base}/app/operate/people`
  return (
    <>
      <form class="audit-filter" method="get" action={path}>
        <Field
          name="search"
          label="E-mail address begins with"
          type="search"
          value={filter.search}
          maxlength={320}
        />
        <button type="submit">Filter</button>
      </form>
      {people.length === 0 ? (
        <p class="lead">Nobody matches.</p>
      ) : (
        <section class="wide" tabindex={0} aria-label="People">
          <Table
            heads={['E-mail address', 'Plan', 'Role', 'Since']}
            rows={people.map(({ email, plan, role, createdAt }) => [
              email,
              plan,
              role,
              <Time at={new Date(createdAt).toISOString()} precision="day" />,
            ])}
          />
        </section>
      )}
      {next !== null && (
        <nav class="actions pages" aria-label="Pages">
          <a
            class="button quiet"
            href={`${path}?${new URLSearchParams({ ...filter, after: next })}`}
          >
            Next
          </a>
        </nav>
      )}
    </>
  )
}
