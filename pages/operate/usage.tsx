import type { Child } from 'hono/jsx'
import { Card } from '../dashboard/parts/card.tsx'
import { ChoiceLinks } from '../dashboard/parts/choice-links.tsx'
import { Empty } from '../dashboard/parts/empty.tsx'
import { Option, Select } from '../dashboard/parts/field.tsx'
import { count, counted, percent } from '../dashboard/parts/format.ts'
import type { PageProps } from '../dashboard/parts/notice.tsx'
import { SPLITS, type Split } from '../dashboard/usage/filters.tsx'
import type { DailyUsage, UsageTotal } from '../dashboard/usage/report.ts'
import { UsageChart } from '../dashboard/usage/usage-chart.tsx'
import { numbers, Table } from '../table.tsx'
import { monthText } from '../time-text.ts'
import { CsvLink, NextPage } from './matches.tsx'
import { personPath } from './person-view.ts'

export const LISTS = { users: 'Users', keys: 'Keys', limited: 'Over a limit' } as const
export type ListName = keyof typeof LISTS

export interface UsageOfAllChoice {
  /** Such as 2026-01. */
  readonly month: string
  readonly split: Split
  readonly list: ListName
  /** From 1. */
  readonly page: number
}

/** The requests of a user, or of one of the user's keys, in a month. */
interface UserTotal extends Omit<UsageTotal, 'id'> {
  readonly userId: string
  readonly email: string
}

/** The users or the keys of the chosen list, most requests first. */
export type UsageOfAllList =
  | { readonly of: 'users'; readonly rows: readonly (UserTotal & { readonly plan: string })[] }
  | { readonly of: 'keys'; readonly rows: readonly (UserTotal & { readonly key: Child })[] }

interface UsageOfAllProps extends PageProps {
  readonly choice: UsageOfAllChoice
  /** Newest first. */
  readonly months: readonly string[]
  readonly daily: DailyUsage
  readonly list: UsageOfAllList
  readonly hasMore: boolean
}

export function UsageOfAll({ base, choice, months, daily, list, hasMore }: UsageOfAllProps) {
  const path = `${base}/app/operate/usage`
  const { page, ...kept } = choice
  const requests = daily.days.flatMap((day) => day.requests).reduce((sum, n) => sum + n, 0)
  return (
    <>
      <Filters path={path} choice={choice} months={months} />
      <p class="soft" id="summary" role="status">
        {counted(requests, 'request', 'requests')} of all users in {monthText(choice.month)}{' '}
        <CsvLink path={path} filter={{ month: choice.month }} />
      </p>
      <div id="report">
        <Card id="daily" title="Requests per day">
          <UsageChart daily={daily} />
        </Card>
        <Lists path={path} choice={choice} />
        {list.rows.length === 0 ? (
          <Empty icon="chart-column" title="No requests in this month">
            <p class="soft">Requests of signed-in users and of keys count from their first day.</p>
          </Empty>
        ) : (
          <ListTable base={base} list={list} name={LISTS[choice.list]} />
        )}
        <NextPage path={path} query={hasMore ? { ...kept, page: String(page + 1) } : null} />
      </div>
    </>
  )
}

interface FiltersProps extends Pick<UsageOfAllProps, 'choice' | 'months'> {
  readonly path: string
}

function Filters({ path, choice, months }: FiltersProps) {
  return (
    <form class="filters" method="get" action={path}>
      <Select name="month" label="Month (UTC)">
        {months.map((month) => (
          <Option value={month} text={monthText(month)} chosen={choice.month} />
        ))}
      </Select>
      <Select name="split" label="Split by">
        {Object.entries(SPLITS).map(([name, text]) => (
          <Option value={name} text={text} chosen={choice.split} />
        ))}
      </Select>
      <input type="hidden" name="list" value={choice.list} />
      <button type="submit" class="quiet">
        Show
      </button>
    </form>
  )
}

function Lists({ path, choice }: Pick<FiltersProps, 'path' | 'choice'>) {
  const { month, split } = choice
  return (
    <ChoiceLinks
      label="Lists"
      look="tabs"
      links={Object.entries(LISTS).map(([list, text]) => ({
        text,
        href: `${path}?${new URLSearchParams({ month, split, list })}`,
        isChosen: list === choice.list,
      }))}
    />
  )
}

interface ListTableProps {
  readonly base: string
  readonly list: UsageOfAllList
  readonly name: string
}

function ListTable({ base, list, name }: ListTableProps) {
  const person = ({ userId, email }: UserTotal) => <a href={personPath(base, userId)}>{email}</a>
  const heads =
    list.of === 'users' ? ['E-mail address', 'Plan in effect'] : ['Key', 'E-mail address']
  const rows =
    list.of === 'users'
      ? list.rows.map((row) => [person(row), row.plan, ...numbersOf(row)])
      : list.rows.map((row) => [row.key, person(row), ...numbersOf(row)])
  return (
    <section class="card wide stacked usage-totals" tabindex={0} aria-label={`Table of ${name}`}>
      <Table
        isStacked
        heads={[...heads, ...numbers('Requests', 'Share of errors', 'Over a limit')]}
        rows={rows}
      />
    </section>
  )
}

function numbersOf({ requests, errors, limited }: UserTotal): Child[] {
  return [count(requests), percent(errors, requests), count(limited)]
}
