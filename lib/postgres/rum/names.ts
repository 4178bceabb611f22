import type { PgConnection } from '../connection.ts'
import { type Bulk, type Columns, readAll, rowsOf, runBulk } from './bulk.ts'

/** A page or a kind of errors of a site on a day. */
export interface DayName {
  readonly siteId: string
  readonly day: number
  readonly name: string
}

/** The table of the names, and how many of them a site may have on a day. All others share one. */
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
    count: {
      text: `SELECT site_id, day, count(*) FROM ${rowsOf(DAY, 'wanted')}
        JOIN ${table} USING (site_id, day) WHERE ${column} <> '${other}' GROUP BY site_id, day`,
      width: 2,
    },
    list: readAll(table, DAY, [column]),
  }
}

/** A day that has as many names as it may have. */
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

/** Admits names in their order. The lock of their sites must be held. */
export async function admitNames(
  connection: PgConnection,
  { limit, other, find, count }: NameTable,
  names: readonly DayName[],
): Promise<Admitted> {
  const wanted = new Map(names.map((name) => [textOf(name), name]))
  const stored = await runBulk(connection, find, [...wanted.values()].map(toTuple))
  const admitted = new Set(stored.rows.map((row) => row.join(' ')))
  const added = [...wanted].filter(([text, { name }]) => name !== other && !admitted.has(text))
  const days = new Map(
    added.map(([, { siteId, day }]) => [`${siteId} ${day}`, [siteId, day] as const]),
  )
  const counted = await runBulk(connection, count, [...days.values()])
  const counts = new Map(counted.rows.map(([siteId, day, n]) => [`${siteId} ${day}`, Number(n)]))
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
  const { rows } = await runBulk(connection, list, days)
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
