import { commandText } from '../parts/clone-or-package.ts'
import { MINUTE_MS, SECOND_MS } from '../parts/durations.ts'
import { sizeText } from '../parts/size-text.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** A server that uses the database. */
export interface NodeState {
  readonly version: string
  /** The time since its last heartbeat. */
  readonly sinceHeartbeatMs: number
  /** Changes of keys that it has not applied. */
  readonly missedChanges: number
}

export interface PostgresState {
  /** Of PostgreSQL. */
  readonly version: string
  readonly bytes: number
  readonly pending: readonly string[]
  /** The live servers. */
  readonly nodes: readonly NodeState[]
  /** Commits of beacons that the servers that have ended did not sum up. */
  readonly leftCommits: number
}

/** A server sends a heartbeat each second. */
const LATE_HEARTBEAT_MS = 3 * SECOND_MS

/** Checks that the database is up to date, and that its servers are of one version and keep up. */
export function checkPostgres(state: PostgresState): Finding[] {
  const { version, bytes, pending } = state
  const text = `PostgreSQL ${version}, ${sizeText(bytes)}`
  if (pending.length === 0) return [ok(`${text}, up to date`), ...checkNodes(state)]
  const advice = `make a backup; the next start applies them, or ${commandText('migrate')}`
  return [warning(`${text}, lacks ${pending.join(', ')}`, advice)]
}

function checkNodes({ nodes, leftCommits }: PostgresState): Finding[] {
  const versions = [...new Set(nodes.map((node) => node.version))].toSorted()
  const servers = nodes.length === 1 ? '1 server uses' : `${nodes.length} servers use`
  const named = versions.length === 0 ? '' : ` of version ${versions.join(' and ')}`
  const uses = `${servers} the database${nodes.length === 0 ? '' : ','}${named}`
  return [
    versions.length > 1 ? warning(uses, 'start all of them with the newest') : ok(uses),
    ...nodes.flatMap(checkLag),
    ...checkLeft(leftCommits, nodes.length),
  ]
}

function checkLag({ sinceHeartbeatMs, missedChanges }: NodeState): Finding[] {
  const advice = 'see its log, and the load of its machine and of PostgreSQL'
  const seconds = Math.round(sinceHeartbeatMs / SECOND_MS)
  return [
    ...(sinceHeartbeatMs > LATE_HEARTBEAT_MS
      ? [warning(`The last heartbeat of a server was ${seconds} s ago`, advice)]
      : []),
    ...(missedChanges > 0
      ? [warning(`A server has not applied the last ${missedChanges} changes of keys`, advice)]
      : []),
  ]
}

function checkLeft(leftCommits: number, servers: number): Finding[] {
  if (leftCommits === 0) return []
  const text = `${leftCommits} groups of beacons of servers that have ended are not summed up`
  return servers === 0
    ? [warning(text, 'a server does so within seconds of its start')]
    : [ok(`${text} yet`)]
}

/** Compares the clock with the one of PostgreSQL. */
export function checkPostgresClock(theirs: number, now: number): Finding {
  const text = `The clock says ${new Date(now).toISOString()}`
  if (Math.abs(theirs - now) <= MINUTE_MS) return ok(text)
  return wrong(
    `${text}, but that of PostgreSQL says ${new Date(theirs).toISOString()}`,
    'set both clocks, and keep them synchronised, for example with systemd-timesyncd',
  )
}
