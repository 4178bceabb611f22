import type { PgConnection } from '../../postgres/connection.ts'
import { type Bulk, type Columns, readAll, readJoined, runBulk } from './bulk.ts'

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
  readonly count: Bulk
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
    count: readJoined(table, DAY, {
      columns: ['site_id', 'day', 'count(*)'],
      rest: `WHERE ${column} <> '${other}' GROUP BY site_id, day`,
    }),
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
  readonly fullDays: readonly (readonly [siteId: string, day: number])[]
}

/** Admits names, in their order, up to the limit. The locks of their sites must be held. */
export async function admitNames(
  connection: PgConnection,
  { limit, other, find, count }: NameTable,
  names: readonly DayName[],
): Promise<Admitted> {
  const wanted = new Map(names.map((name) => [textOf(name), name]))
  const stored = await runBulk(connection, find, [...wanted.values()].map(toTuple))
  const admitted = new Set(stored.map((row) => row.join(' ')))
  const added = [...wanted].filter(([text, { name }]) => name !== other && !admitted.has(text))
  const days = new Map(
    added.map(([, { siteId, day }]) => [`${siteId} ${day}`, [siteId, day] as const]),
  )
  const counted = await runBulk(connection, count, [...days.values()])
  const counts = new Map(counted.map(([siteId, day, n]) => [`${siteId} ${day}`, Number(n)]))
  for (const [text, { siteId, day }] of added) {
    const n = counts.get(`${siteId} ${day}`) ?? 0
    if (n >= limit) continue
    counts.set(`${siteId} ${day}`, n + 1)
    admitted.add(text)
  }
  return {
    has: (name) => name.name === other || admitted.has(textOf(name)),
    fullDays: [...days].filter(([text]) => (counts.get(text) ?? 0) >= limit).map(([, day]) => day),
  }
}

/** Lists all stored names of the days. */
export async function listNamesOf(
  connection: PgConnection,
  { list }: NameTable,
  days: Admitted['fullDays'],
): Promise<FullDay[]> {
  const rows = await runBulk(connection, list, days)
  return days.map(([siteId, day]) => {
    const names = rows.filter((row) => row[0] === siteId && row[1] === day)
    return { siteId, day, names: names.map(([, , name]) => String(name)) }
  })
}

function toTuple({ siteId, day, name }: DayName) {
  return [siteId, day, name]
}

function textOf(name: DayName): string {
  return toTuple(name).join(' ')
}
