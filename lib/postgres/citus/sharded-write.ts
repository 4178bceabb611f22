import type { PgConnection } from '../connection.ts'

/**
 * Two statements for rows of one shard. Citus passes each of them whole to the worker of the shard, so that
 * the transaction needs no two-phase commit. One INSERT with ON CONFLICT, as for one server, would need
 * temporary files and a two-phase commit.
 */
export interface ShardedWrite {
  /**
   * Changes stored rows, and returns the numbers of the added rows with their keys; undefined: changes none.
   */
  readonly update: string | undefined
  /**
   * Inserts rows. `rum_counted` must have a row for the node and each site, by which Citus finds the shard.
   */
  readonly insert: string
  readonly types: readonly string[]
}

interface WriteSpec {
  readonly table: string
  /** Begins with `site_id`. */
  readonly key: readonly string[]
  /** Names and types. The first columns are those of the key. */
  readonly columns: Readonly<Record<string, string>>
  readonly updates: readonly string[]
  readonly conflict: string
}

export function shardedWrite({ table, key, columns, updates, conflict }: WriteSpec): ShardedWrite {
  const names = Object.keys(columns)
  const types = Object.values(columns)
  const { added, node } = addedRows(names, types)
  const isSame = key.map((name) => `stored.${name} = added.${name}`).join(' AND ')
  const values = ['counted.site_id', ...names.slice(1).map((name) => `added.${name}`)]
  return {
    update:
      updates.length === 0
        ? undefined
        : `UPDATE ${table} AS stored SET ${updates.join(', ')} FROM ${added}
           WHERE stored.site_id = ANY ($1::text[]) AND ${isSame} RETURNING added.number`,
    insert: `INSERT INTO ${table} AS stored (${names.join(', ')})
      SELECT ${values.join(', ')} FROM rum_counted AS counted JOIN ${added}
        ON added.site_id = counted.site_id
      WHERE counted.site_id = ANY ($1::text[]) AND counted.node = ${node} ${conflict}`,
    types,
  }
}

/** Makes numbered rows from parameters. All values of a column of bytes are joined in one parameter. */
function addedRows(names: readonly string[], types: readonly string[]) {
  const arrays: string[] = []
  const selected: string[] = []
  const unnested: string[] = []
  let params = 0
  const next = (type: string, name: string) => {
    params += 1
    arrays.push(`$${params}::${type}[]`)
    unnested.push(name)
  }
  for (const [at, name] of names.entries()) {
    const type = types[at] ?? ''
    if (type !== 'bytea') {
      next(type, name)
      selected.push(name)
      continue
    }
    next('bigint', `${name}_start`)
    next('bigint', `${name}_size`)
    params += 1
    selected.push(
      `substring($${params}::bytea FROM ${name}_start::int FOR ${name}_size::int) AS ${name}`,
    )
  }
  next('bigint', 'number')
  const added = `(SELECT ${[...selected, 'number'].join(', ')}
    FROM unnest(${arrays.join(', ')}) AS given (${unnested.join(', ')})) AS added`
  return { added, node: `$${params + 1}` }
}

type Tuple = readonly unknown[]

/** Writes rows of one shard. */
export async function writeToShard(
  connection: PgConnection & { readonly node: string },
  { update, insert, types }: ShardedWrite,
  rows: readonly Tuple[],
): Promise<void> {
  const changed =
    update === undefined ? [] : (await connection.query(update, toParams(rows, types))).rows
  const known = new Set(changed.map(([number]) => Number(number)))
  const added = rows.filter((_, number) => !known.has(number))
  if (added.length === 0) return
  await connection.query(insert, [...toParams(added, types), connection.node])
}

function toParams(rows: readonly Tuple[], types: readonly string[]): unknown[] {
  const params = types.flatMap((type, at): unknown[] => {
    const values = rows.map((row) => row[at])
    // safe: by the type
    return type === 'bytea' ? toSlices(values as Uint8Array[]) : [values]
  })
  return [...params, rows.map((_, number) => number)]
}

/** Returns the start and the length of each value, and all values joined: Citus would send an array on as text. */
function toSlices(values: readonly Uint8Array[]): [number[], number[], Buffer] {
  let start = 1
  const starts = values.map(({ length }) => {
    start += length
    return start - length
  })
  return [starts, values.map(({ length }) => length), Buffer.concat(values)]
}
