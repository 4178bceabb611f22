import type { Ledger } from '../db/ledger/ledger.ts'
import { Line, type LineKind } from '../db/ledger/table.ts'
import type { Db } from '../db/open.ts'
import type { Part } from '../db/part.ts'
import { MINUTE_MS, SECOND_MS } from '../parts/durations.ts'
import type { KeyRecord } from './key-ring/key-records.ts'
import { type KeyRow, listKeys } from './keys.ts'

/** When each key was last used, exact to a minute. Kept in memory, and written with the counters. */
export type LastUsed = ReturnType<typeof createLastUsed>

export function createLastUsed(ledger: Pick<Ledger, 'open'>) {
  /** By the id of the key. */
  const unwritten = new Map<string, LastUse>()
  const table = ledger.open(
    toKind((use) => {
      if (!table.isWaiting(use)) unwritten.delete(use.keyId)
    }),
  )
  return {
    /** Records that the key was used. Writes it once a minute: each second, it would be a third of all rows. */
    touch: (key: Pick<KeyRecord, 'id' | 'lastUsedAt'>, now: number) => {
      if (now - key.lastUsedAt < MINUTE_MS) return
      const second = now - (now % SECOND_MS)
      key.lastUsedAt = second
      const use = unwritten.get(key.id) ?? new LastUse(key.id)
      unwritten.set(key.id, use)
      use.usedAt = Math.max(use.usedAt, second)
      table.touch(use)
    },
    /** The last use that is not written yet, in epoch milliseconds; undefined if there is none. */
    unwritten: (keyId: string) => unwritten.get(keyId)?.usedAt,
  }
}

/** The last use of a key that is not written yet. */
class LastUse extends Line {
  readonly keyId: string
  /** In epoch milliseconds. */
  usedAt = 0

  constructor(keyId: string) {
    super(keyId)
    this.keyId = keyId
  }
}

function toKind(written: (use: LastUse) => void): LineKind<LastUse> {
  const toPending: LineKind<LastUse>['toPending'] = (rows) => ({
    keys: {
      keyId: rows.lines.map(({ keyId }) => keyId),
      usedAt: rows.numbers(({ usedAt }) => usedAt),
    },
  })
  return { sums: 0, toPending, written }
}

interface LastUseSources {
  readonly db: Db
  readonly ledger: Ledger
  readonly lastUsed: LastUsed
}

/** Like `listKeys`, but includes last uses that are not written yet. */
export function listKeysWithLastUse(
  { db, ledger, lastUsed }: LastUseSources,
  userId: string,
  part?: Part,
) {
  // Between flushes: a use that was written right after this read would be missing from both.
  return ledger.betweenFlushes(async (): Promise<KeyRow[]> => {
    const keys = await listKeys(db, userId, part)
    return keys.map((key) => ({
      ...key,
      lastUsedAt: lastUsed.unwritten(key.id) ?? key.lastUsedAt,
    }))
  })
}
