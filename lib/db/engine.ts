import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome, Query } from '../parts/sql.ts'
import type { Client, Connection, Prepared } from './connection.ts'
import { isLocked } from './fault.ts'

/** Runs one statement. With `only`, reads only its first row. */
export type Execute = (query: Query, only?: 'first row') => Promise<Outcome>

/** Runs statements, in this thread or in another one. */
export interface Engine {
  readonly dialect: 'sqlite' | 'postgres'
  readonly execute: Execute
  /**
   * Runs the statements in one transaction: all or none. If the first changes no row, the others do
   * not run. Returns whether it changed a row.
   */
  runUnit(queries: readonly [Query, ...Query[]]): Promise<boolean>
  /** Runs `work` in one transaction, which ends when it resolves. All other statements wait. */
  transact<Result>(work: (execute: Execute) => Promise<Result>): Promise<Result>
}

/** Runs statements on a connection of this thread. */
export type LocalEngine = ReturnType<typeof createEngine>

/** A connection and its engine, for code that writes in the thread of the connection. */
export type WriterDb = Connection & { readonly engine: LocalEngine }

/** 200 attempts with pauses of 25 ms: about five seconds. */
const ATTEMPTS = 200
const PAUSE_MS = 25
/** More than the service has, although texts vary with the number of their parameters. */
const MAX_PREPARED = 500

/**
 * Runs statements on one connection. While another process holds the lock that a write needs, it
 * tries again for some seconds; requests are answered between the attempts.
 */
export function createEngine(client: Client) {
  const prepare = cachePrepared(client)
  /** Settles when the open transaction has ended; null: none is open. */
  let open: Promise<void> | null = null

  const run = ({ sql, params }: Query, only?: 'first row'): Outcome => {
    const statement = prepare(sql)
    if (!statement.reader) return { rows: [], changes: statement.run(...params).changes }
    if (only === undefined) return { rows: statement.all(...params), changes: 0 }
    const row = statement.get(...params)
    return { rows: row === undefined ? [] : [row], changes: 0 }
  }
  /** Runs `work` as soon as no transaction is open. While another process holds the lock, tries again. */
  const whenFree = async <Result>(work: () => Result, attempts = ATTEMPTS): Promise<Result> => {
    for (let left = attempts; ; left--) {
      while (open !== null) await open
      const done = unlessLocked(work, left)
      if (done !== null) return done.result
      await sleep(PAUSE_MS)
    }
  }
  const begin = () => {
    withoutWaiting(client, () => client.exec('BEGIN IMMEDIATE'))
    const { promise, resolve } = Promise.withResolvers<void>()
    open = promise
    return () => {
      open = null
      resolve()
    }
  }
  const runUnit = client.transaction(([first, ...rest]: readonly [Query, ...Query[]]) => {
    if (run(first).changes === 0) return false
    for (const query of rest) run(query)
    return true
  })
  return {
    dialect: 'sqlite' as const,
    execute: (query: Query, only?: 'first row'): Promise<Outcome> =>
      whenFree(() =>
        prepare(query.sql).readonly
          ? run(query, only)
          : withoutWaiting(client, () => run(query, only)),
      ),
    runUnit: (queries: readonly [Query, ...Query[]]): Promise<boolean> =>
      whenFree(() => withoutWaiting(client, () => runUnit.immediate(queries))),
    transact: async <Result>(work: (execute: Execute) => Promise<Result>): Promise<Result> => {
      const end = await whenFree(begin)
      try {
        const result = await work(async (query, only) => run(query, only))
        client.exec('COMMIT')
        return result
      } catch (error) {
        // After some errors, SQLite has already rolled back.
        if (client.inTransaction) client.exec('ROLLBACK')
        throw error
      } finally {
        end()
      }
    },
    whenFree,
  }
}

/** Returns null if another process holds the lock and attempts are left. */
function unlessLocked<Result>(work: () => Result, left: number): { result: Result } | null {
  try {
    return { result: work() }
  } catch (error) {
    if (isLocked(error) && left > 1) return null
    throw error
  }
}

function cachePrepared(client: Client) {
  const prepared = new Map<string, Prepared>()
  return (sql: string) => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    if (prepared.size === MAX_PREPARED) prepared.clear()
    const statement = client.prepare<unknown[], unknown[]>(sql)
    if (statement.reader) statement.raw()
    prepared.set(sql, statement)
    return statement
  }
}

/** Runs `work` without waiting for locks: it throws at once if another process holds one. */
export function withoutWaiting<Result>(client: Client, work: () => Result): Result {
  const before = client.pragma('busy_timeout', { simple: true })
  client.pragma('busy_timeout = 0')
  try {
    return work()
  } finally {
    client.pragma(`busy_timeout = ${before}`)
  }
}
