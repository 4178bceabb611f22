import type { PgPool } from '../../postgres/connection.ts'
import { translate } from '../../postgres/translate.ts'
import { createReader, type RumReader } from '../reader.ts'

/** Reads stored telemetry of all nodes. */
export function createPgRumReader(pool: PgPool): RumReader {
  const read = <Result>(work: (reader: RumReader) => Promise<Result>) =>
    pool.use((connection) => {
      const reader = createReader(async (sql, params) => {
        return (await connection.query(translate(sql).text, params)).rows
      })
      return work(reader)
    })
  return {
    readSummary: (filter, live) => read((reader) => reader.readSummary(filter, live)),
    readOverview: (filter) => read((reader) => reader.readOverview(filter)),
  }
}
