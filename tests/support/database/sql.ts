import type { Services } from '../../../lib/services/services.ts'
import { clientOf, ON_POSTGRES } from './test-database.ts'

/** Statements of tests, which run on SQLite and on PostgreSQL. Parameters are written as `?`. */
interface App {
  readonly services: Pick<Services, 'db' | 'keys'>
}

/** A value of one byte, for columns of sketches. */
export const ZERO_BYTE = ON_POSTGRES ? "'\\x00'" : "x'00'"

/** The rows of a query, each an array of values in the order of the columns. */
export async function readRows<Row extends readonly unknown[] = unknown[]>(
  { services }: App,
  sql: string,
  ...params: unknown[]
): Promise<Row[]> {
  const { rows } = await services.db.execute({ sql, params })
  // safe: the caller names the types of the columns
  return rows as unknown as Row[]
}

/** The first value of each row. */
export async function readColumn(app: App, sql: string, ...params: unknown[]): Promise<unknown[]> {
  return (await readRows(app, sql, ...params)).map(([value]) => value)
}

/** The first value of the first row; undefined: there is no row. */
export async function readValue(app: App, sql: string, ...params: unknown[]): Promise<unknown> {
  return (await readColumn(app, sql, ...params))[0]
}

/** All rows of all tables, as one text. Not those that heartbeats change every second. */
export async function readEverything(app: App): Promise<string> {
  if (app.services.db.engine.dialect === 'sqlite')
    return clientOf(app.services).serialize().toString('latin1')
  const tables = await readColumn(
    app,
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'nodes'",
  )
  const texts = await Promise.all(
    tables.map((table) => readColumn(app, `SELECT ${table}::text FROM ${table} ORDER BY 1`)),
  )
  return texts.flat().join('\n')
}

/**
 * Runs a statement that changes rows, or several, each on new lines after a semicolon. The keys in memory
 * are up to date when it resolves.
 */
export async function write({ services }: App, sql: string, ...params: unknown[]): Promise<void> {
  await services.keys.changeBy(async () => {
    for (const statement of sql.split(/;\n/)) await services.db.execute({ sql: statement, params })
  })
}

/** Runs `statement`, such as an UPDATE, before each `event`, such as `INSERT ON accounts`. */
export async function addTrigger({ db }: Pick<Services, 'db'>, event: string, statement: string) {
  const name = `test_${event.replaceAll(/\W+/g, '_').toLowerCase()}`
  const run = (sql: string) => db.execute({ sql, params: [] })
  if (db.engine.dialect === 'sqlite') {
    await run(`CREATE TRIGGER ${name} BEFORE ${event} BEGIN ${statement}; END`)
    return { remove: () => run(`DROP TRIGGER ${name}`) }
  }
  await run(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN ${statement}; RETURN coalesce(NEW, OLD); END $$`)
  await run(`CREATE TRIGGER ${name} BEFORE ${event} FOR EACH ROW EXECUTE FUNCTION ${name}()`)
  return { remove: () => run(`DROP FUNCTION ${name} CASCADE`) }
}

/** Makes each `event`, such as `INSERT ON accounts`, fail, for rows that meet the condition. */
export function makeFail(services: Pick<Services, 'db'>, event: string, condition = '1 = 1') {
  const fail =
    services.db.engine.dialect === 'sqlite'
      ? `SELECT RAISE(ABORT, 'full') WHERE ${condition}`
      : `IF ${condition} THEN RAISE 'full'; END IF`
  return addTrigger(services, event, fail)
}
