import type { Statement } from '../db/unit.ts'

/** What was done to what, for the audit log. */
export interface Note {
  readonly action: string
  readonly targetType: string
  readonly targetId: string | null
  readonly detail: string | null
}

/** Who does something about what they pay for. */
export interface Actor {
  readonly userId: string
  /** Epoch milliseconds. */
  readonly now: number
  /** The audit row of what is done. */
  readonly audit: (note: Note) => Statement
}
