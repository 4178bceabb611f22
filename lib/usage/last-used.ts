import { type KeyRow, listKeys } from '../access/keys.ts'
import type { Ledger } from '../db/ledger/ledger.ts'
import type { Db } from '../db/open.ts'
import type { Part } from '../db/part.ts'
import { readUsesAfterSums } from './past-days.ts'
import type { RequestCounts } from './request-counts.ts'

/** Like `listKeys`, but with all last uses that are written. */
export async function listUsedKeys(db: Db, userId: string, part?: Part): Promise<KeyRow[]> {
  // Before the keys, so that none is missing if its day is added to its month in between.
  const uses = await readUsesAfterSums(db, userId)
  const keys = await listKeys(db, userId, part)
  return keys.map((key) => withUse(key, uses.get(key.id) ?? 0))
}

interface LastUseSources {
  readonly db: Db
  readonly ledger: Ledger
  readonly requestCounts: Pick<RequestCounts, 'lastUseOf'>
}

/** Like `listUsedKeys`, but includes last uses that are not written yet. */
export function listKeysWithLastUse(
  { db, ledger, requestCounts }: LastUseSources,
  userId: string,
  part?: Part,
): Promise<KeyRow[]> {
  // Between flushes: a use that was written right after this read would be missing from both.
  return ledger.betweenFlushes(async () => {
    const keys = await listUsedKeys(db, userId, part)
    return keys.map((key) => withUse(key, requestCounts.lastUseOf(key.id)))
  })
}

/** `usedAt` is in epoch milliseconds; 0: none. */
function withUse(key: KeyRow, usedAt: number): KeyRow {
  return usedAt > (key.lastUsedAt ?? 0) ? { ...key, lastUsedAt: usedAt } : key
}
