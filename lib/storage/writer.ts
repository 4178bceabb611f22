import { type WriterDb, withoutWaiting } from '../db/engine.ts'
import { prepareUses, type WriteUses } from '../db/uses.ts'
import { openRumWriter } from '../rum/writer.ts'
import type { ReportError } from './channel.ts'

interface WriterOptions {
  readonly now: () => number
  readonly onError: ReportError
}

/** About a second. After that, unwritten uses wait for the next flush, if there is one. */
const ATTEMPTS = 40

/** Opens the writers that do not go through the engine: those of counts and telemetry. */
export function openWriter(db: WriterDb, options: WriterOptions) {
  const write = prepareUses(db.$client)
  const writeUses: WriteUses = (uses) =>
    db.engine.whenFree(() => withoutWaiting(db.$client, () => write(uses)), ATTEMPTS)
  return { writeUses, rum: openRumWriter(db, options) }
}
