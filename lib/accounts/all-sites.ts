import { and, asc, eq, gte, lt, sql } from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import { sites, users } from '../db/tables.ts'

export interface AllSitesQuery {
  /** Beginning of the origin; empty: all. */
  readonly search: string
  /** The last site of the page before; null: the first page. */
  readonly after: { readonly name: string; readonly id: string } | null
  readonly limit: number
}

/** Reads one page of the sites of all users with their owners, in the order of their origins. */
export async function readAllSites(db: Queries, query: AllSitesQuery) {
  return selectAllSites(db, query).all()
}

export function selectAllSites(db: Queries, { search, after, limit }: AllSitesQuery) {
  const { id, name, userId, createdAt, provenAt, missingSince, isFirst } = sites
  // No character sorts higher, so this is above every origin that begins so.
  const end = `${search}\u{10ffff}`
  const isLater = after === null ? undefined : sql`(${name}, ${id}) > (${after.name}, ${after.id})`
  return db
    .select({
      id,
      name,
      userId,
      createdAt,
      provenAt,
      missingSince,
      isFirst,
      email: users.email,
    })
    .from(sites)
    .innerJoin(users, eq(users.id, userId))
    .where(and(gte(name, search), lt(name, end), isLater))
    .orderBy(asc(name), asc(id))
    .limit(limit)
}
