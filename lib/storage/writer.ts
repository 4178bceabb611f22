import { type WriterDb, withoutWaiting } from '../db/engine.ts'
import { prepareUses, type WriteUses } from '../db/uses.ts'
import { openRumWriter } from '../rum/writer.ts'
import type { Report } from './channel.ts'

interface WriterOptions {
  readonly now: () => number
  readonly onError: Report
}

/** Everything that writes beside the engine: counts and telemetry. */
export function openWriter(db: WriterDb, options: WriterOptions) {
  const write = prepareUses(db.$client)
  // Once: the next flush tries again.
  const writeUses: WriteUses = (uses) =>
    db.engine.whenFree(() => withoutWaiting(db.$client, () => write(uses)), 1)
  return { writeUses, rum: openRumWriter(db, options) }
}
