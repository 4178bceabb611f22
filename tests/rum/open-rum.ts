import type { LocalDb } from '../../lib/db/open.ts'
import type { Address } from '../../lib/net/address.ts'
import { createRumReader } from '../../lib/rum/reader.ts'
import { createRum, type Rum } from '../../lib/rum/rum.ts'
import { openRumWriter } from '../../lib/rum/writer.ts'
import { NOON } from '../support/helpers.ts'

interface Options {
  readonly db: LocalDb
  readonly findCountry: (address: Address) => string | undefined
  readonly onError: (error: unknown, message: string) => void
  readonly checkpointMs?: number
}

/** Opens telemetry in this thread. */
export function openRum({ db, findCountry, onError, checkpointMs }: Options): Rum & Disposable {
  const writer = openRumWriter(db, { now: () => NOON, onError, checkpointMs })
  const reader = createRumReader(db)
  const findSite = async () => null
  const rum = createRum({ writer, reader, findSite, findCountry, onError })
  return { ...rum, [Symbol.dispose]: writer[Symbol.dispose] }
}
