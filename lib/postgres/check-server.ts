import { codeOf, reasonOf, withAdvice } from '../parts/reason.ts'
import type { PgPool } from './connection.ts'

const OLDEST_VERSION = 15
const NEWEST_VERSION = 18

/**
 * Throws if the service cannot run on the database; the error says what to do. The collation of the database
 * does not matter, since each of our columns has the collation C, which every server has.
 */
export async function requireUsableDatabase(pool: PgPool): Promise<void> {
  const { rows } = await pool.use((connection) => connection.query(READ_STATE))
  // safe: the columns of the statement
  const state = rows[0]?.[0] as ServerState
  const problem = problemOf(state)
  if (problem !== undefined) throw new Error(problem)
}

interface ServerState {
  readonly version: string
  readonly major: number
  readonly encoding: string
  readonly isStandby: boolean
  readonly isReadOnly: boolean
  readonly fsync: string
  readonly commit: string
  readonly standbys: string
  readonly user: string
  /** null: no schema of its search path exists. */
  readonly schema: string | null
  readonly mayCreate: boolean | null
}

const READ_STATE = `SELECT json_build_object(
  'version', current_setting('server_version'),
  'major', current_setting('server_version_num')::int / 10000,
  'encoding', current_setting('server_encoding'),
  'isStandby', pg_is_in_recovery(),
  'isReadOnly', current_setting('transaction_read_only')::bool,
  'fsync', current_setting('fsync'),
  'commit', current_setting('synchronous_commit'),
  'standbys', current_setting('synchronous_standby_names'),
  'user', current_user,
  'schema', current_schema(),
  'mayCreate', has_schema_privilege(current_schema(), 'CREATE')
)`

function problemOf(state: ServerState): string | undefined {
  const { version, major, encoding, user, schema } = state
  if (major < OLDEST_VERSION || major > NEWEST_VERSION) {
    return `its version is ${version}; use PostgreSQL ${OLDEST_VERSION} to ${NEWEST_VERSION}`
  }
  if (encoding !== 'UTF8') {
    return `its encoding is ${encoding}; create a database with ENCODING 'UTF8' TEMPLATE template0`
  }
  if (state.isStandby) return 'it is a standby, which only reads; name the primary'
  if (state.isReadOnly) return 'its transactions only read; turn default_transaction_read_only off'
  if (schema === null) return `no schema in the search_path of ${user} exists; create one`
  if (state.mayCreate !== true) {
    return `${user} may not create tables; run GRANT CREATE ON SCHEMA ${schema} TO "${user}"`
  }
  return lossOf(state)
}

/** Says how a crash could lose what the service has acknowledged; undefined: none could. */
function lossOf({ fsync, commit, standbys, user }: ServerState): string | undefined {
  if (fsync !== 'on') return `fsync is ${fsync}: ${LOSS}; turn it on`
  const scope = `for the server, the database and ${user}`
  if (commit === 'off') return `synchronous_commit is off: ${LOSS}; set it to on ${scope}`
  if (commit === 'local' && standbys !== '') {
    return `synchronous_commit is local: a failover to a standby ${LOSES}; set it to on ${scope}`
  }
  return undefined
}

const LOSES = 'would lose what the service has acknowledged'
const LOSS = `a crash ${LOSES}`

/** Advice for errors that match an expression. */
type AdviceList = readonly (readonly [matches: RegExp, advice: string])[]

/** Advice for errors at the start, by the codes of sockets, of TLS and of PostgreSQL. */
const BY_CODE: AdviceList = [
  [/^ECONNREFUSED$/, 'start PostgreSQL, or correct host and port'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'correct the host'],
  [/^(28P01|28000)$/, 'correct user and password, or pg_hba.conf'],
  [/^3D000$/, 'create it with createdb, or correct its name'],
  [/^42501$/, 'give the user the rights to this database and its tables'],
  [/^53300$/, 'raise max_connections, or end other programs'],
  [/^57P03$/, 'start again once it is up'],
  // The server lacks statements that we have prepared, or has those of another client.
  [/^(26000|42P05)$/, 'use no pooler, or one in session mode'],
  [/CERT|SIGNATURE/, 'name its authority with sslrootcert, or correct the host'],
]

/** Advice for errors of the driver, which have no code. */
const BY_REASON: AdviceList = [
  [/password must be a string/, 'add the password'],
  [
    /unsupported startup parameter/,
    'use no pooler, or one in session mode that ignores statement_timeout and idle_in_transaction_session_timeout',
  ],
  [/does not support SSL/, 'turn ssl on there, or set sslmode=disable'],
]

/** Returns the reason of an error at the start, with advice for common ones. */
export function explainStart(error: unknown): string {
  const root = error instanceof Error && error.cause !== undefined ? error.cause : error
  return withAdvice(reasonOf(root), findAdvice(root))
}

/** Returns the first advice for the code of the error or, without one, for its reason. Empty: there is none. */
function findAdvice(error: unknown): string {
  const ofCode = BY_CODE.find(([codes]) => codes.test(codeOf(error)))
  const found = ofCode ?? BY_REASON.find(([reasons]) => reasons.test(reasonOf(error)))
  return found?.[1] ?? ''
}
