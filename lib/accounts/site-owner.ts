import type { Db } from '../db/open.ts'
import { transact } from '../db/transaction.ts'
import { isLocalName } from '../net/local-name.ts'
import { callerEvent, insertAudit } from './audit.ts'

interface Owner {
  readonly id: string
  readonly userId: string
  readonly name: string
}

/** Of the users who registered an origin, the one with the newest proof of its host owns it. */
const FIND_PROVEN = `SELECT site.id, site.user_id AS userId, site.name
  FROM sites AS proof JOIN sites AS site ON site.user_id = proof.user_id AND site.name = @name
  WHERE proof.host = @host AND proof.proven_at IS NOT NULL
  ORDER BY proof.proven_at DESC LIMIT 1`

/** Any other origin belongs to its first registration, until another user proves the host. */
const FIND_FIRST = 'SELECT id, user_id AS userId, name FROM sites WHERE name = ? AND is_first = 1'

const SEVERAL_ACCOUNTS =
  'SELECT (SELECT min(user_id) FROM sites) <> (SELECT max(user_id) FROM sites)'

/** Returns the id of the site that gets the telemetry of an origin; null: none. */
export type FindReceiver = (name: string) => string | null

/**
 * Everybody has an `http://localhost:3000`, so its first registration gets nothing on a server that
 * strangers share: one with a public name and several accounts' sites.
 */
export function createFindReceiver(db: Db, baseUrl: () => string): FindReceiver {
  const { findProven, findFirst } = prepareFind(db)
  const isShared = prepareIsShared(db)
  return (name) => {
    const proven = findProven(name)
    if (proven !== undefined) return proven.id
    if (isLocalName(hostOf(name)) && isShared(baseUrl())) return null
    return findFirst(name)?.id ?? null
  }
}

function prepareIsShared({ $client }: Db) {
  const severalAccounts = $client.prepare<[], number>(SEVERAL_ACCOUNTS).pluck()
  return (baseUrl: string) => !isLocalName(hostOf(baseUrl)) && severalAccounts.get() === 1
}

/**
 * Keeps what `find` returns for one turn of the event loop: every beacon asks, and in one turn many
 * beacons of a busy site may arrive.
 */
export function keepForTurn(find: FindReceiver): FindReceiver {
  const found = new Map<string, string | null>()
  return (name) => {
    const known = found.get(name)
    if (known !== undefined) return known
    if (found.size === 0) setImmediate(() => found.clear())
    const id = find(name)
    found.set(name, id)
    return id
  }
}

/**
 * Runs `change` in a transaction. If an origin of the host then has another owner or none, adds an
 * entry to the audit log of the user who loses it, and of the one who gains it.
 */
export async function changeOwners<Result>(
  db: Db,
  host: string,
  now: number,
  change: () => Result,
): Promise<Result> {
  return transact(db, () => {
    const { findProven, findFirst } = prepareFind(db)
    const find = (name: string) => findProven(name) ?? findFirst(name)
    const before = listNames(db, host).flatMap((name) => find(name) ?? [])
    const result = change()
    const lost = before.filter(({ name, id }) => find(name)?.id !== id)
    for (const site of lost.filter((owner) => exists(db, owner))) {
      auditByServer(db, site, 'lose_site', now)
    }
    for (const site of lost.flatMap(({ name }) => find(name) ?? [])) {
      auditByServer(db, site, 'gain_site', now)
    }
    return result
  })
}

/**
 * Runs `change` of a user's sites. If strangers then begin or cease to share the server, adds an entry
 * to the audit log of the other user for each site that thereby stops or starts receiving.
 */
export function auditSharing<Result>(
  db: Db,
  userId: string,
  { baseUrl, now }: { readonly baseUrl: string; readonly now: number },
  change: () => Result,
): Result {
  const isShared = prepareIsShared(db)
  const wasShared = isShared(baseUrl)
  const result = change()
  if (isShared(baseUrl) === wasShared) return result
  const others = db.$client.prepare<[string], Owner>(
    'SELECT id, user_id AS userId, name FROM sites WHERE user_id <> ? AND is_first = 1 ORDER BY rowid',
  )
  for (const site of others.all(userId).filter(({ name }) => isLocalName(hostOf(name)))) {
    auditByServer(db, site, wasShared ? 'gain_site' : 'lose_site', now)
  }
  return result
}

function prepareFind({ $client }: Db) {
  const proven = $client.prepare<[{ name: string; host: string }], Owner>(FIND_PROVEN)
  const first = $client.prepare<[string], Owner>(FIND_FIRST)
  return {
    findProven: (name: string) => proven.get({ name, host: hostOf(name) }),
    findFirst: (name: string) => first.get(name),
  }
}

/** The origins of the host that are registered. */
function listNames({ $client }: Db, host: string): string[] {
  const names = $client.prepare<[string], string>('SELECT DISTINCT name FROM sites WHERE host = ?')
  return names.pluck().all(host)
}

function exists({ $client }: Db, { id }: Owner): boolean {
  return $client.prepare<[string]>('SELECT 1 FROM sites WHERE id = ?').get(id) !== undefined
}

/** The host of an origin. */
export function hostOf(origin: string): string {
  return new URL(origin).hostname
}

/** The entry does not name the other user. */
function auditByServer(db: Db, site: Owner, action: 'lose_site' | 'gain_site', now: number): void {
  const actor = { app: 'api', userId: site.userId, label: null } as const
  insertAudit(db, callerEvent(actor, siteNote(action, site), now)).run()
}

/** The audit entry of a change of a site. */
export function siteNote<Action extends string>(
  action: Action,
  { id, name }: Pick<Owner, 'id' | 'name'>,
) {
  return { action, targetType: 'site', targetId: id, detail: name } as const
}
