import type { Plan } from '../../lib/config/plans.ts'
import { Card } from '../dashboard/parts/card.tsx'
import { Empty } from '../dashboard/parts/empty.tsx'
import { Field, Option, Select } from '../dashboard/parts/field.tsx'
import { Form } from '../dashboard/parts/form.tsx'
import { type PageProps, Result } from '../dashboard/parts/notice.tsx'
import { Time } from '../dashboard/parts/time.tsx'
import { Table } from '../table.tsx'
import { Matches } from './matches.tsx'
import { CsvLink } from './next-page.tsx'
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

export interface PeopleProps extends PageProps {
  readonly filter: PeopleFilter
  readonly plans: readonly Plan[]
  /** With the name of the plan in effect. */
  readonly people: readonly (PersonView & { readonly plan: string })[]
  /** Where the next page begins; null: there is none. */
  readonly next: string | null
  /** How a new person gets a password. */
  readonly invitation: 'mail' | 'link' | 'auth service'
  /** What the form for a new account contains. */
  readonly typed: { readonly email: string; readonly plan: string }
}

const DONE: Readonly<Record<string, string>> = { deleted: 'Account deleted.' }

export function People(props: PeopleProps) {
  const { base, filter, plans, people, next, done = '', error } = props
  const path = `${base}/app/operate/people`
  const query = next === null ? null : { ...filter, after: next }
  return (
    <>
      <Result error={error} done={DONE[done]} />
      <FilterForm path={path} filter={filter} plans={plans} />
      <Matches shown={people.length} nouns={['user', 'users']} path={path} query={query}>
        {people.length === 0 ? (
          <Empty icon="users" title="Nobody matches">
            <a href={path}>Show everybody</a>
          </Empty>
        ) : (
          <section class="wide stacked" tabindex={0} aria-label="Users">
            <Table
              isStacked
              heads={['E-mail address', 'Plan', 'Status', 'Since']}
              rows={people.map((person) => [
                <a href={personPath(base, person.id)}>{person.email}</a>,
                person.plan,
                <PersonBadges person={person} />,
                <Time at={new Date(person.createdAt).toISOString()} precision="day" />,
              ])}
            />
          </section>
        )}
        <CsvLink path={path} filter={{ ...filter }} />
      </Matches>
      <NewPerson path={path} {...props} />
    </>
  )
}

const INVITATIONS: Readonly<Record<PeopleProps['invitation'], string>> = {
  mail: 'A mail with a link invites its owner to choose a password within an hour.',
  link: 'This service sends no mail: the next page shows a link to choose a password within an hour. Give it to the owner of the address alone.',
  'auth service': 'Its owner signs in at your auth service, which keeps the passwords.',
}

interface NewPersonProps extends Pick<PeopleProps, 'plans' | 'invitation' | 'typed' | 'problem'> {
  readonly path: string
}

function NewPerson({ path, plans, invitation, typed, problem }: NewPersonProps) {
  return (
    <Card id="new" title="Create an account">
      <Form action={path} text="Create the account">
        <p>{INVITATIONS[invitation]}</p>
        <Field
          name="newEmail"
          label="E-mail address"
          type="email"
          value={typed.email}
          autocomplete="off"
          maxlength={320}
          problem={problem}
          required
        />
        <Select name="newPlan" label="Plan" problem={problem}>
          {plans.map(({ id, name }) => (
            <Option value={id} text={name} chosen={typed.plan} />
          ))}
        </Select>
      </Form>
    </Card>
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
      <button type="submit">Filter</button>
    </form>
  )
}
