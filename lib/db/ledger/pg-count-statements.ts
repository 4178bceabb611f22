import { isUsageError } from '../../contract/account/usage-details.ts'
import type { Columns } from './columns.ts'
import { firstDayOfMonth, type OperationUse } from './pending-counts.ts'

type Column = readonly (string | number)[]

interface CountStatement {
  readonly text: string
  /** The values of each parameter. */
  readonly columns: (counts: Counts) => readonly Column[]
}

interface Counts {
  readonly operations: Columns<OperationUse>
  /** Those of days that are added to their months already: see `isSummed`. */
  readonly past: readonly OperationUse[]
}

interface Sums {
  /** A query of the rows to add. */
  readonly rows: string
  readonly key: readonly string[]
  readonly sums: readonly string[]
  /** Times of which the later one stays. */
  readonly latest?: readonly string[]
}

/** PostgreSQL's driver takes only plain arrays for arrays. */
export function toValues(column: ArrayLike<string | number>): Column {
  return Array.from(column)
}

function addTo(table: string, { rows, key, sums, latest = [] }: Sums): string {
  const columns = [...key, ...sums, ...latest].join(', ')
  const add = [
    ...sums.map((name) => `${name} = known.${name} + excluded.${name}`),
    ...latest.map((name) => `${name} = greatest(known.${name}, excluded.${name})`),
  ].join(', ')
  return `INSERT INTO ${table} AS known (${columns}) SELECT ${columns} FROM (${rows}) AS added
    ORDER BY ${key.join(', ')} ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${add}`
}

/** All nodes write rows in the order of their keys, so that they cannot deadlock. */
export const COUNT_STATEMENTS: readonly CountStatement[] = [
  {
    text: addTo('usage_by_operation', {
      rows: `SELECT day, user_id, key_id, operation, status, sum(requests)::bigint AS requests,
          sum(look_ups)::bigint AS look_ups, max(used_at) AS used_at
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
            $7::bigint[], $8::bigint[])
          AS use (day, user_id, key_id, operation, status, requests, look_ups, used_at)
        GROUP BY 1, 2, 3, 4, 5`,
      key: ['day', 'user_id', 'key_id', 'operation', 'status'],
      sums: ['requests', 'look_ups'],
      latest: ['used_at'],
    }),
    columns: ({ operations }) => {
      const { day, userId, keyId, operation, status, requests, lookUps, usedAt } = operations
      return [day, userId, keyId, operation, status, requests, lookUps, usedAt].map(toValues)
    },
  },
  {
    text: addTo('usage_by_month', {
      rows: `SELECT month, user_id, key_id, sum(requests)::bigint AS requests,
          sum(errors)::bigint AS errors, sum(limited)::bigint AS limited
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
          AS use (month, user_id, key_id, requests, errors, limited)
        GROUP BY 1, 2, 3`,
      key: ['month', 'user_id', 'key_id'],
      sums: ['requests', 'errors', 'limited'],
    }),
    columns: ({ past }) => [
      past.map(({ day }) => firstDayOfMonth(day)),
      past.map(({ userId }) => userId),
      past.map(({ keyId }) => keyId),
      past.map(({ requests }) => requests),
      past.map(({ status, requests }) => (isUsageError(status) ? requests : 0)),
      past.map(({ status, requests }) => (status === 429 ? requests : 0)),
    ],
  },
  {
    text: addTo('usage_of_all', {
      rows: `SELECT day, operation, status, sum(requests)::bigint AS requests
        FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
          AS use (day, operation, status, requests)
        GROUP BY 1, 2, 3`,
      key: ['day', 'operation', 'status'],
      sums: ['requests'],
    }),
    columns: ({ operations: { day, operation, status, requests } }) =>
      [day, operation, status, requests].map(toValues),
  },
]
