import type { Plan } from '../../lib/config/plans.ts'
import { Empty } from '../dashboard/parts/empty.tsx'
import { Field, Option, Select } from '../dashboard/parts/field.tsx'
import { type PageProps, Result } from '../dashboard/parts/notice.tsx'
import { Time } from '../dashboard/parts/time.tsx'
import { Table } from '../table.tsx'
import { Matches } from './matches.tsx'
import { PersonBadges } from './person-badges.tsx'
import { type PersonView, personPath } from './person-view.ts'

export type PeopleStatus = 'all' | 'disabled' | 'operators' | 'unverified'

export const STATUS_LABELS: Readonly<Record<PeopleStatus, string>> = {
  all: 'Everybody',
  disabled: 'Disabled',
  operators: 'Operators',
  unverified: 'Address not verified',
}

export interface PeopleFilter {
  /** Beginning of the e-mail address; empty: all. */
  readonly search: string
  /** Id of the plan in effect; empty: all. */
  readonly plan: string
  readonly status: PeopleStatus
}

export interface PeopleProps extends Pick<PageProps, 'base' | 'done'> {
  readonly filter: PeopleFilter
  readonly plans: readonly Plan[]
  /** With the name of the plan in effect. */
  readonly people: readonly (PersonView & { readonly plan: string })[]
  /** Where the next page begins; null: there is none. */
  readonly next: string | null
}

const DONE: Readonly<Record<string, string>> = { deleted: 'Account deleted.' }

export function People({ base, filter, plans, people, next, done = '' }: PeopleProps) {
  const path = `${base}/app/operate/people`
  const query = next === null ? null : { ...filter, after: next }
  return (
    <>
      <Result done={DONE[done]} />
      <FilterForm path={path} filter={filter} plans={plans} />
      <Matches
        shown={people.length}
        nouns={['user', 'users']}
        path={path}
        query={query}
        csv={{ ...filter }}
      >
        {people.length === 0 ? (
          <Empty icon="users" title="Nobody matches">
            <a href={path}>Show everybody</a>
          </Empty>
        ) : (
          <section class="card wide stacked" tabindex={0} aria-label="Users">
            <Table
              isStacked
              heads={['E-mail address', 'Plan', 'Since']}
              rows={people.map((person) => [
                <>
                  <a href={personPath(base, person.id)}>{person.email}</a>{' '}
                  <PersonBadges person={person} />
                </>,
                person.plan,
                <Time at={new Date(person.createdAt).toISOString()} precision="day" />,
              ])}
            />
          </section>
        )}
      </Matches>
    </>
  )
}

export function CreateLink({ base }: Pick<PeopleProps, 'base'>) {
  return (
    <a class="button" href={`${base}/app/operate/people/new/account`}>
      Create account
    </a>
  )
}

interface FilterFormProps extends Pick<PeopleProps, 'filter' | 'plans'> {
  readonly path: string
}

function FilterForm({ path, filter, plans }: FilterFormProps) {
  return (
    <form class="filters" method="get" data-filter action={path}>
      <Field
        name="search"
        label="E-mail address begins with"
        type="search"
        value={filter.search}
        maxlength={320}
      />
      <Select name="plan" label="Plan in effect">
        <Option value="" text="All plans" chosen={filter.plan} />
        {plans.map(({ id, name }) => (
          <Option value={id} text={name} chosen={filter.plan} />
        ))}
      </Select>
      <Select name="status" label="Status">
        {Object.entries(STATUS_LABELS).map(([status, text]) => (
          <Option value={status} text={text} chosen={filter.status} />
        ))}
      </Select>
      <button type="submit" class="quiet">
        Filter
      </button>
    </form>
  )
}
