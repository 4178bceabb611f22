import { eq } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { sites } from '../db/tables.ts'
import { transact } from '../db/transaction.ts'
import { isLocalName } from '../parts/net/local-name.ts'
import { callerEvent, insertAudit } from './audit.ts'

/** The site that gets the telemetry of its origin. */
interface Receiver {
  readonly id: string
  readonly userId: string
  readonly name: string
}

/** Among the users who registered an origin, the one with the newest proof of its host gets its telemetry. */
const FIND_PROVEN = `SELECT site.id, site.user_id, site.name
  FROM sites AS proof JOIN sites AS site ON site.user_id = proof.user_id AND site.name = ?
  WHERE proof.host = ? AND proof.proven_at IS NOT NULL
  ORDER BY proof.proven_at DESC LIMIT 1`

/** Without a proof, it goes to the first registration. */
const FIND_FIRST = 'SELECT id, user_id, name FROM sites WHERE name = ? AND is_first = 1'

/** Returns a row if there are several. */
const SEVERAL_ACCOUNTS =
  'SELECT 1 WHERE (SELECT min(user_id) FROM sites) <> (SELECT max(user_id) FROM sites)'

const OTHERS_FIRST =
  'SELECT id, user_id, name FROM sites WHERE user_id <> ? AND is_first = 1 ORDER BY rowid'

/** Finds the id of the site that gets the telemetry of an origin; null: none. */
export type FindReceiver = (name: string) => Promise<string | null>

/**
 * On a shared server, which has a public name and the sites of several accounts, nobody gets the
 * telemetry of local names: everybody has an `http://localhost:3000`.
 */
export function createFindReceiver(queries: Queries, baseUrl: () => string): FindReceiver {
  return async (name) => {
    const proven = await findProven(queries, name)
    if (proven !== undefined) return proven.id
    if (isLocalName(hostOf(name)) && (await isShared(queries, baseUrl()))) return null
    // Looks again, because a proof may have been stored meanwhile, which ends all first registrations.
    const receiver = (await findFirst(queries, name)) ?? (await findProven(queries, name))
    return receiver?.id ?? null
  }
}

let changes = 0

/** How often this process has changed sites. */
export function countSiteChanges(): number {
  return changes
}

/** Runs `change` in a transaction. Use it for all changes of sites. */
export async function inSiteTransaction<Result>(
  db: Db,
  change: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  try {
    return await transact(db, change)
  } finally {
    changes += 1
  }
}

/** Runs `change` in a transaction, and audits it as `withReceiverAudit` does. */
export async function changeReceivers<Result>(
  db: Db,
  host: string,
  now: number,
  change: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  return inSiteTransaction(db, (queries) =>
    withReceiverAudit(queries, [host], now, () => change(queries)),
  )
}

/**
 * Runs `change`, which changes sites. If an origin of these hosts then has another receiver or none, adds
 * an entry to the audit logs of the user who loses the telemetry and of the user who gains it.
 */
export async function withReceiverAudit<Result>(
  queries: Queries,
  hosts: readonly string[],
  now: number,
  change: () => Promise<Result>,
): Promise<Result> {
  const before = await Array.fromAsync(hosts, (host) => listReceivers(queries, host))
  const result = await change()
  await auditReceivers(queries, before.flat(), now)
  return result
}

/** `before`: the receivers before a change. */
async function auditReceivers(
  queries: Queries,
  before: readonly Receiver[],
  now: number,
): Promise<void> {
  const after = await Array.fromAsync(before, ({ name }) => findReceiver(queries, name))
  const lost = before.filter(({ id }, at) => after[at]?.id !== id)
  const gained = after.filter(
    (receiver, at) => receiver !== undefined && receiver.id !== before[at]?.id,
  )
  for (const site of lost) {
    if (await exists(queries, site)) await auditByServer(queries, site, 'lose_site', now)
  }
  for (const site of gained) {
    if (site !== undefined) await auditByServer(queries, site, 'gain_site', now)
  }
}

/**
 * Runs `change`, which changes the sites of one user. If the server then becomes shared, or is no longer
 * shared, adds an entry to the other user's audit log for each site that stops or starts receiving.
 */
export async function withSharingAudit<Result>(
  queries: Queries,
  userId: string,
  { baseUrl, now }: { readonly baseUrl: string; readonly now: number },
  change: () => Promise<Result>,
): Promise<Result> {
  const wasShared = await isShared(queries, baseUrl)
  const result = await change()
  if ((await isShared(queries, baseUrl)) === wasShared) return result
  const { rows } = await queries.execute({ sql: OTHERS_FIRST, params: [userId] })
  for (const site of rows.map(toReceiver).filter(({ name }) => isLocalName(hostOf(name)))) {
    await auditByServer(queries, site, wasShared ? 'gain_site' : 'lose_site', now)
  }
  return result
}

async function isShared({ execute }: Queries, baseUrl: string): Promise<boolean> {
  if (isLocalName(hostOf(baseUrl))) return false
  const { rows } = await execute({ sql: SEVERAL_ACCOUNTS, params: [] })
  return rows.length > 0
}

async function findProven({ execute }: Queries, name: string): Promise<Receiver | undefined> {
  const { rows } = await execute({ sql: FIND_PROVEN, params: [name, hostOf(name)] })
  return rows.map(toReceiver)[0]
}

async function findFirst({ execute }: Queries, name: string): Promise<Receiver | undefined> {
  const { rows } = await execute({ sql: FIND_FIRST, params: [name] })
  return rows.map(toReceiver)[0]
}

async function findReceiver(queries: Queries, name: string): Promise<Receiver | undefined> {
  return (await findProven(queries, name)) ?? findFirst(queries, name)
}

/** The receivers of the registered origins of the host. */
async function listReceivers(queries: Queries, host: string): Promise<Receiver[]> {
  const names = await queries
    .selectDistinct({ name: sites.name })
    .from(sites)
    .where(eq(sites.host, host))
    .all()
  const receivers = await Array.fromAsync(names, ({ name }) => findReceiver(queries, name))
  return receivers.filter((receiver) => receiver !== undefined)
}

async function exists(queries: Queries, { id }: Receiver): Promise<boolean> {
  const site = queries.select({ id: sites.id }).from(sites).where(eq(sites.id, id))
  return (await site.get()) !== undefined
}

function toReceiver([id, userId, name]: readonly unknown[]): Receiver {
  return { id: String(id), userId: String(userId), name: String(name) }
}

/** The host of an origin. */
export function hostOf(origin: string): string {
  return new URL(origin).hostname
}

/** The entry does not name the other user. */
async function auditByServer(
  queries: Queries,
  site: Receiver,
  action: 'lose_site' | 'gain_site',
  now: number,
): Promise<void> {
  const actor = { app: 'api', userId: site.userId, label: null } as const
  await insertAudit(queries, callerEvent(actor, siteNote(action, site), now)).run()
}

/** The audit entry of a change of a site. */
export function siteNote<Action extends string>(
  action: Action,
  { id, name }: Pick<Receiver, 'id' | 'name'>,
) {
  return { action, targetType: 'site', targetId: id, detail: name } as const
}
