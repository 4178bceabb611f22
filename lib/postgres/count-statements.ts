import { isUsageError } from '../contract/account/usage-details.ts'
import { firstDayOfMonth, type Uses } from '../db/uses.ts'

type Column = readonly (string | number)[]

interface CountStatement {
  readonly text: string
  /** The values of each parameter. `ofAll` may contain uses of users who were deleted meanwhile. */
  readonly columns: (uses: Uses, ofAll: Uses) => readonly Column[]
}

interface Sums {
  /** A query of the rows to add. */
  readonly rows: string
  readonly key: readonly string[]
  readonly sums: readonly string[]
}

/**
 * Adds to the rows that exist, and inserts only the others: an insertion costs several times as much,
 * because it runs the trigger that looks for the user. ON CONFLICT is for rows that another node inserts
 * meanwhile, which the statement does not see.
 */
function addTo(table: string, { rows, key, sums }: Sums): string {
  const names = (of: readonly string[], prefix = '') => of.map((name) => prefix + name).join(', ')
  const isSame = (other: string) =>
    key.map((name) => `${other}.${name} = added.${name}`).join(' AND ')
  const add = (other: string) =>
    sums.map((name) => `${name} = known.${name} + ${other}.${name}`).join(', ')
  return `WITH added AS MATERIALIZED (${rows} ORDER BY ${names(key)}),
    updated AS (
      UPDATE ${table} AS known SET ${add('added')} FROM added WHERE ${isSame('known')}
      RETURNING ${names(key, 'known.')}
    )
    INSERT INTO ${table} AS known (${names([...key, ...sums])})
    SELECT ${names([...key, ...sums])} FROM added
    WHERE NOT EXISTS (SELECT FROM updated WHERE ${isSame('updated')})
    ON CONFLICT (${names(key)}) DO UPDATE SET ${add('excluded')}`
}

/** All nodes write rows in the order of their keys, so that they cannot deadlock. */
export const COUNT_STATEMENTS: readonly CountStatement[] = [
  {
    text: addTo('usage_by_day', {
      rows: `SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
        AS added (user_id, day, key_id, requests)`,
      key: ['user_id', 'day', 'key_id'],
      sums: ['requests'],
    }),
    columns: (uses) => {
      const callers = uses.callers.filter(({ requests }) => requests > 0)
      return [
        callers.map(({ userId }) => userId),
        callers.map(({ day }) => day),
        callers.map(({ keyId }) => keyId),
        callers.map(({ requests }) => requests),
      ]
    },
  },
  {
    text: addTo('usage_by_operation', {
      rows: `SELECT day, user_id, key_id, operation, status, sum(requests)::bigint AS requests
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
          AS added (day, user_id, key_id, operation, status, requests)
        GROUP BY 1, 2, 3, 4, 5`,
      key: ['day', 'user_id', 'key_id', 'operation', 'status'],
      sums: ['requests'],
    }),
    columns: ({ operations }) => [
      operations.map(({ day }) => day),
      operations.map(({ userId }) => userId),
      operations.map(({ keyId }) => keyId),
      operations.map(({ operation }) => operation),
      operations.map(({ status }) => status),
      operations.map(({ requests }) => requests),
    ],
  },
  {
    text: addTo('usage_by_month', {
      rows: `SELECT month, user_id, key_id, sum(requests)::bigint AS requests,
          sum(errors)::bigint AS errors, sum(limited)::bigint AS limited
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
          AS added (month, user_id, key_id, requests, errors, limited)
        GROUP BY 1, 2, 3`,
      key: ['month', 'user_id', 'key_id'],
      sums: ['requests', 'errors', 'limited'],
    }),
    columns: ({ operations }) => [
      operations.map(({ day }) => firstDayOfMonth(day)),
      operations.map(({ userId }) => userId),
      operations.map(({ keyId }) => keyId),
      operations.map(({ requests }) => requests),
      operations.map(({ status, requests }) => (isUsageError(status) ? requests : 0)),
      operations.map(({ status, requests }) => (status === 429 ? requests : 0)),
    ],
  },
  {
    text: `INSERT INTO usage_of_all AS known (day, operation, status, requests)
      SELECT day, operation, status, sum(requests)
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
        AS added (day, operation, status, requests)
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
      ON CONFLICT (day, operation, status) DO UPDATE SET requests = known.requests + excluded.requests`,
    columns: (_, { operations }) => [
      operations.map(({ day }) => day),
      operations.map(({ operation }) => operation),
      operations.map(({ status }) => status),
      operations.map(({ requests }) => requests),
    ],
  },
]
