import { and, asc, gt, gte, lt } from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import { users } from '../db/tables.ts'

export interface PeopleQuery {
  /** Beginning of the e-mail address, in lower case; empty: all. */
  readonly search: string
  /** E-mail address of the last user of the page before; empty: the first page. */
  readonly after: string
  readonly limit: number
}

/** Reads one page of all users, by e-mail address. */
export async function readPeople(db: Queries, { search, after, limit }: PeopleQuery) {
  const { id, email, plan, role, emailVerified, createdAt } = users
  // Above every address that begins so: no character sorts higher.
  const end = `${search}\u{10ffff}`
  return db
    .select({ id, email, plan, role, emailVerified, createdAt })
    .from(users)
    .where(and(gte(email, search), lt(email, end), gt(email, after)))
    .orderBy(asc(email))
    .limit(limit)
    .all()
}

export type Person = Awaited<ReturnType<typeof readPeople>>[number]
