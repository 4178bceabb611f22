import type { PgConnection } from '../../postgres/connection.ts'
import { type Cap, CappedNames } from '../rows/capped-names.ts'
import { type Bulk, type Columns, readAll, runBulk } from './bulk.ts'

/** A page or a kind of errors of a site on a day. */
export interface DayName {
  readonly siteId: string
  readonly day: number
  readonly name: string
}

/** A table of names, and how many of them a site may have on a day. */
export interface NameTable {
  readonly cap: Cap
  readonly find: Bulk
  readonly list: Bulk
}

const DAY: Columns = { site_id: 'text', day: 'bigint' }

export function nameTable(table: string, column: string, cap: Cap): NameTable {
  return {
    cap,
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

/** Under which names they are counted: their own, if it is stored or finds room. And the days that are full. */
export interface Admitted {
  nameOf(name: DayName): string
  readonly fullDays: readonly FullDay[]
}

/** Admits names, in their order, up to the limit. The locks of their sites must be held. */
export async function admitNames(
  connection: PgConnection,
  { cap, find, list }: NameTable,
  all: readonly DayName[],
): Promise<Admitted> {
  const wanted = new Map(all.map((name) => [textOf(name), name]))
  const stored = await runBulk(connection, find, [...wanted.values()].map(toTuple))
  const known = new Set(stored.map((row) => row.join(' ')))
  const added = [...wanted].filter(([text]) => !known.has(text))
  const days = new Map(added.map(([, name]) => [dayOf(name), name]))
  const tuples = Array.from(days.values(), ({ siteId, day }) => [siteId, day])
  const byDay = Map.groupBy(await runBulk(connection, list, tuples), (row) => `${row[0]} ${row[1]}`)
  const capped = new CappedNames(cap, (day: string) =>
    (byDay.get(day) ?? []).map((row) => String(row[2])),
  )
  const names = new Map(added.map(([text, name]) => [text, capped.add(dayOf(name), name.name)]))
  return {
    nameOf: (name) => names.get(textOf(name)) ?? name.name,
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
