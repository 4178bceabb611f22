import type { RumSummary } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import type { LocalDb } from '../../lib/db/open.ts'
import type { Address } from '../../lib/parts/net/address.ts'
import { createRumReader } from '../../lib/rum/reader.ts'
import { createRum, type Rum } from '../../lib/rum/rum.ts'
import type { RowFilter } from '../../lib/rum/store/row.ts'
import { openRumWriter } from '../../lib/rum/writer.ts'
import { NOON } from '../support/helpers.ts'

interface Options {
  readonly db: LocalDb
  readonly findCountry: (address: Address) => string | undefined
  readonly onError: (error: unknown, message: string) => void
  readonly checkpointMs?: number
  readonly limit?: number
}

export interface TestRum extends Pick<Rum, 'accept'>, AsyncDisposable {
  readSummary(filter: RowFilter): Promise<RumSummary['metrics']>
}

/** Opens telemetry in this thread. */
export function openRum({ db, checkpointMs, ...options }: Options): TestRum {
  const { onError } = options
  const writer = openRumWriter(db, { now: () => NOON, onError, checkpointMs })
  const reader = createRumReader(db)
  const findSite = async () => null
  const rum = createRum({ ...options, writer, reader, findSite })
  return {
    accept: rum.accept,
    readSummary: async (filter) => {
      const summary = new TextDecoder().decode(await rum.readSummary(filter))
      return JSON.parse(summary).metrics
    },
    [Symbol.asyncDispose]: writer[Symbol.asyncDispose],
  }
}
