import { dateOfDay, dayOf } from '../../../lib/config/period.ts'
import { PERIODS, SPLITS, type UsageChoice } from '../../../pages/dashboard/usage/filters.tsx'

/** Reads the query of the page. Missing and invalid values get their defaults. */
export function readChoice(query: (name: string) => string | undefined): UsageChoice {
  return {
    period: nameIn(PERIODS, query('period')) ?? '30d',
    key: query('key') ?? '',
    operation: query('operation') ?? '',
    split: nameIn(SPLITS, query('split')) ?? 'status',
  }
}

function nameIn<Name extends string>(
  table: Readonly<Record<Name, unknown>>,
  text: string | undefined,
): Name | undefined {
  // safe: the tables are constants with no other keys
  return (Object.keys(table) as Name[]).find((name) => name === text)
}

/** The days of the period up to today, oldest first. */
export function datesOf({ period }: UsageChoice, now: number): string[] {
  const length = PERIODS[period]
  const first = dayOf(now) - length + 1
  return Array.from({ length }, (_, n) => dateOfDay(first + n))
}

/** The query for the API. */
export function toQuery({ key, operation }: UsageChoice, dates: readonly string[]) {
  return { from: dates.at(0), to: dates.at(-1), key, operation }
}
