import type { Ask } from '../limits/buckets/bucket-store.ts'
import { type AdviceList, findAdvice, reasonOf, withAdvice } from '../reason.ts'
import { chargeBuckets } from './bucket-store.ts'
import type { ValkeyConnection } from './connection.ts'

/** The oldest version of Redis. Every Valkey reports that it is compatible with a newer one. */
const OLDEST_REDIS = 7

export interface ServerState {
  /** Such as `Valkey 8.0.1`. */
  readonly name: string
  /** Its maxmemory-policy if that may remove buckets before they expire; undefined: it removes none. */
  readonly evictionPolicy: string | undefined
}

/** Throws if nodes cannot share limits through the server; the error says what to do. */
export async function requireUsableServer(connection: ValkeyConnection): Promise<ServerState> {
  const info = toFields(String(await connection.send(['INFO'])))
  const problem = problemOf(info)
  if (problem !== undefined) throw new Error(problem)
  // Checks that the user may run all commands of the script.
  await chargeBuckets(connection, [PROBE], { nodes: 1 })
  return { name: nameOf(info), evictionPolicy: evictionOf(info) }
}

/** Takes a request from a bucket that has refilled, and is removed, after a millisecond. */
const PROBE: Ask = {
  id: 'probe',
  capacity: 1,
  windowMs: 1,
  debt: 0,
  returned: 0,
  need: 1,
  want: 0,
}

type Fields = ReadonlyMap<string, string>

/** Reads lines such as `redis_version:7.2.4`. */
function toFields(info: string): Fields {
  const lines = info.matchAll(/^(\w+):(.*?)\r?$/gm)
  return new Map([...lines].map(([, name = '', value = '']) => [name, value]))
}

function problemOf(info: Fields): string | undefined {
  if (Number.parseInt(info.get('redis_version') ?? '', 10) < OLDEST_REDIS) {
    return `its version is ${info.get('redis_version')}; use Valkey, or Redis ${OLDEST_REDIS} or newer`
  }
  if (info.get('redis_mode') === 'cluster' || info.get('cluster_enabled') === '1') {
    return 'it runs in cluster mode, which is not supported; use a server without it'
  }
  if (info.get('role') === 'slave') return 'it is a replica, which only reads; name the primary'
  return undefined
}

function nameOf(info: Fields): string {
  const valkey = info.get('valkey_version')
  return valkey === undefined ? `Redis ${info.get('redis_version')}` : `Valkey ${valkey}`
}

function evictionOf(info: Fields): string | undefined {
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  return info.get('maxmemory') === '0' || policy === 'noeviction' ? undefined : policy
}

const RIGHTS = 'give the user INFO, EVAL, EVALSHA, TIME, GET, SET and DEL on meridian:bucket:*'
const TLS =
  'check that it is up, and that the URL begins with valkeys or rediss exactly if it uses TLS'

/** Advice for errors at the start, by the codes of sockets and TLS. */
const BY_CODE: AdviceList = [
  [/^ECONNREFUSED$/, 'start it, or correct host and port'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'correct the host'],
  [/CERT|SIGNATURE/, 'name its authority in NODE_EXTRA_CA_CERTS, or correct the host'],
  [/^ERR_SSL|^ECONNRESET$|^EPROTO$/, TLS],
]

/** Advice for errors without a code, by their text. The server's errors begin with a word in capitals. */
const BY_REASON: AdviceList = [
  [/^(WRONGPASS|NOAUTH)|without any password/, 'correct user and password'],
  // Redis and Valkey differ in how they refuse a command of a script.
  [/^NOPERM|can't run this command|ACL failure/, RIGHTS],
  [/^(LOADING|BUSY)/, 'start again once it is up'],
  [/^OOM/, 'raise its maxmemory'],
  [/^ERR DB index/, 'correct the number of the database'],
  [/closed unexpectedly|^no answer/, TLS],
]

/** Says in one line why the server cannot be used, with advice for common errors. */
export function explain(error: unknown): string {
  const [reason = ''] = reasonOf(error).split('\n')
  return withAdvice(reason, findAdvice(error, { byCode: BY_CODE, byReason: BY_REASON }))
}
