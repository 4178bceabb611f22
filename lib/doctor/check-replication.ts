import { MINUTE_MS, SECOND_MS } from '../parts/durations.ts'
import { sizeText } from '../parts/size-text.ts'
import { counted } from './check-age.ts'
import { type Finding, ok, warning } from './finding.ts'
import type { Replication } from './replication.ts'

/** Litestream copies once a second; a lost connection is made again within this time. */
const LATE_MS = MINUTE_MS

/** Checks whether Litestream copies the database, and how far the copy is. */
export function checkReplication(replication: Replication, now: number): Finding {
  if ('problem' in replication) {
    const advice =
      'restart the server with scripts/with-litestream.sh: without it nothing is copied'
    return warning(`Litestream does not answer: ${replication.problem}`, advice)
  }
  const { syncedAt, unread } = replication
  const advice = 'the log of Litestream says why: is LITESTREAM_REPLICA_URL reachable and writable?'
  if (syncedAt === 0) return warning('Litestream has copied nothing since it started', advice)
  const age = counted(Math.max(0, Math.floor((now - syncedAt) / SECOND_MS)), 'second')
  const rest = unread === 0 ? 'it has read the whole log' : `${sizeText(unread)} of the log wait`
  const text = `Litestream last completed the copy ${age} ago; ${rest}`
  return now - syncedAt > LATE_MS ? warning(text, advice) : ok(text)
}
