import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { openTestPool, startPostgres } from '../support/database/postgres-server.ts'

/** -0 is sent as 0. */
const withoutSign = (value: number) => value + 0
/** What means something in the text of an array, and what PostgreSQL takes for white space. */
const Special = fc.constantFrom(
  '"',
  '\\',
  '{',
  '}',
  ',',
  ' ',
  '\t',
  '\v',
  '\n',
  "'",
  'x',
  'NULL',
  'é',
  '😀',
)
const Text = fc.oneof(
  fc.string({ unit: Special }),
  // PostgreSQL has no U+0000.
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
)
const Bytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.array(fc.option(value))

describe('an array parameter', () => {
  const closing = new AsyncDisposableStack()
  let pool: PgPool
  before(async () => {
    const server = closing.use(await startPostgres())
    pool = closing.use(openTestPool(await server.createDatabase()))
  })
  after(() => closing.disposeAsync())

  /** `type`: of the elements. */
  async function roundTrip(type: string, values: readonly unknown[]): Promise<unknown[]> {
    const sql = `SELECT value FROM unnest($1::${type}[]) WITH ORDINALITY AS row (value, at) ORDER BY at`
    const { rows } = await pool.use((connection) => connection.query(sql, [values]))
    return rows.map(([value]) => value)
  }
  const keeps = <Value>(type: string, values: fc.Arbitrary<Value[]>) =>
    fc.assert(
      fc.asyncProperty(values, async (all) => {
        assert.deepEqual(await roundTrip(type, all), all)
      }),
    )

  it('keeps texts', () => keeps('text', nullable(Text)))

  it('keeps whole numbers', () => keeps('bigint', nullable(fc.maxSafeInteger())))

  it('keeps fractions, infinity and NaN', () =>
    keeps('float8', nullable(fc.double().map(withoutSign))))

  it('keeps booleans', () => keeps('boolean', nullable(fc.boolean())))

  it('keeps bytes', () => keeps('bytea', nullable(Bytes)))

  it('is refused if it has other values, or bytes among others', async () => {
    await assert.rejects(roundTrip('text', [new Date()]), TypeError)
    await assert.rejects(roundTrip('bytea', [Buffer.of(1), 'text']), TypeError)
    await assert.rejects(roundTrip('text', ['text', Buffer.of(1)]), TypeError)
  })
})
