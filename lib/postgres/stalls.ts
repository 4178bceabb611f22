import type pg from 'pg'
import { QUICK_MS } from './connection.ts'

/**
 * Finds connections that have stalled, for example because a router dropped them without closing them. If one
 * does not answer a quick statement, all others that have not answered since that statement was sent are given
 * up, too.
 */
export function trackStalls() {
  /** When each connection was sent the statement that it has not answered yet, in monotonic milliseconds. */
  const waiting = new Map<pg.PoolClient, number>()
  const answeredAt = new WeakMap<pg.PoolClient, number>()
  let stalledSince = Number.NEGATIVE_INFINITY
  const isSound = (client: pg.PoolClient): boolean =>
    (answeredAt.get(client) ?? Number.POSITIVE_INFINITY) > stalledSince
  /** Ends the connection, so that its statement rejects, unless it answers within `QUICK_MS`. */
  const endUnlessAnswered = (client: pg.PoolClient, sentAt: number) => {
    const end = () => {
      if (waiting.get(client) === sentAt) client.end().catch(() => {})
    }
    setTimeout(end, sentAt + QUICK_MS - performance.now()).unref()
  }
  return {
    sent: (client: pg.PoolClient) => {
      waiting.set(client, performance.now())
      // A new connection.
      if (!answeredAt.has(client)) answeredAt.set(client, performance.now())
    },
    answered: (client: pg.PoolClient) => {
      waiting.delete(client)
      answeredAt.set(client, performance.now())
    },
    /**
     * The connection is lost. `longestMs`: how long its statement could take. If that was a quick one whose time
     * is up, the connection has stalled.
     */
    failed: (client: pg.PoolClient, longestMs: number) => {
      const since = waiting.get(client) ?? performance.now()
      waiting.delete(client)
      // A timer may be a moment early.
      const isLate = performance.now() - since > 0.9 * longestMs
      if (longestMs > QUICK_MS || !isLate) return
      stalledSince = Math.max(stalledSince, since)
      for (const [other, sentAt] of waiting) {
        if (!isSound(other)) endUnlessAnswered(other, sentAt)
      }
    },
    /** Whether the connection is new, or has answered since the last one stalled. */
    isSound,
  }
}

export type Stalls = ReturnType<typeof trackStalls>
