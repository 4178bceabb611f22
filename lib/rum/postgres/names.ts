import type { PgConnection } from '../../postgres/connection.ts'
import { CappedNames } from '../rows/capped-names.ts'
import { type Bulk, type Columns, readAll, runBulk } from './bulk.ts'

/** A page or a kind of errors of a site on a day. */
export interface DayName {
  readonly siteId: string
  readonly day: number
  readonly name: string
}

/** A table of names, and how many of them a site may have on a day. All others share the name `other`. */
export interface NameTable {
  readonly limit: number
  readonly other: string
  readonly find: Bulk
  readonly list: Bulk
}

const DAY: Columns = { site_id: 'text', day: 'bigint' }

export function nameTable(
  table: string,
  column: string,
  { limit, other }: Pick<NameTable, 'limit' | 'other'>,
): NameTable {
  return {
    limit,
    other,
    find: readAll(table, { ...DAY, [column]: 'text' }),
    list: readAll(table, DAY, [column]),
  }
}

/** A day of a site that has reached its limit of names. */
export interface FullDay {
  readonly siteId: string
  readonly day: number
  readonly names: readonly string[]
}

/** Which names are stored or find room, and the days that are full. */
export interface Admitted {
  has(name: DayName): boolean
  readonly fullDays: readonly FullDay[]
}

/** Admits names, in their order, up to the limit. The locks of their sites must be held. */
export async function admitNames(
  connection: PgConnection,
  { limit, other, find, list }: NameTable,
  names: readonly DayName[],
): Promise<Admitted> {
  const wanted = new Map(names.map((name) => [textOf(name), name]))
  const stored = await runBulk(connection, find, [...wanted.values()].map(toTuple))
  const admitted = new Set(stored.map((row) => row.join(' ')))
  const added = [...wanted].filter(([text, { name }]) => name !== other && !admitted.has(text))
  const days = new Map(added.map(([, name]) => [dayOf(name), name]))
  const tuples = Array.from(days.values(), ({ siteId, day }) => [siteId, day])
  const known = Map.groupBy(await runBulk(connection, list, tuples), (row) => `${row[0]} ${row[1]}`)
  const capped = new CappedNames(limit, other, (day: string) =>
    (known.get(day) ?? []).map((row) => String(row[2])),
  )
  for (const [text, name] of added) {
    if (capped.add(dayOf(name), name.name) === name.name) admitted.add(text)
  }
  return {
    has: (name) => name.name === other || admitted.has(textOf(name)),
    fullDays: [...days]
      .filter(([text]) => capped.isFull(text))
      .map(([text, { siteId, day }]) => ({ siteId, day, names: [...capped.load(text)] })),
  }
}

function dayOf({ siteId, day }: DayName): string {
  return `${siteId} ${day}`
}

function toTuple({ siteId, day, name }: DayName) {
  return [siteId, day, name]
}

function textOf(name: DayName): string {
  return toTuple(name).join(' ')
}
