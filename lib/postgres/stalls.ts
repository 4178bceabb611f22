import type pg from 'pg'
import { SOON_MS } from './connection.ts'

/**
 * Finds connections that have stalled, such as when a router has forgotten them: nobody closes those. If one does
 * not answer a quick statement, others that have not answered since are not waited for any more.
 */
export function trackStalls() {
  /** When the statement was sent that a connection has not answered yet, in monotonic milliseconds. */
  const waiting = new Map<pg.PoolClient, number>()
  const answeredAt = new WeakMap<pg.PoolClient, number>()
  let stalledSince = Number.NEGATIVE_INFINITY
  const isSound = (client: pg.PoolClient): boolean =>
    (answeredAt.get(client) ?? Number.POSITIVE_INFINITY) > stalledSince
  /** Gives the connection as long as a quick statement. If it is ended, its statement rejects. */
  const endUnlessAnswered = (client: pg.PoolClient, sentAt: number) => {
    const end = () => {
      if (waiting.get(client) === sentAt) client.end().catch(() => {})
    }
    setTimeout(end, sentAt + SOON_MS - performance.now()).unref()
  }
  return {
    sent: (client: pg.PoolClient) => {
      waiting.set(client, performance.now())
      // It has just been connected.
      if (!answeredAt.has(client)) answeredAt.set(client, performance.now())
    },
    answered: (client: pg.PoolClient) => {
      waiting.delete(client)
      answeredAt.set(client, performance.now())
    },
    /**
     * The connection is lost, and not used again. `longestMs`: how long its statement may have taken. If that is
     * short and over, the connection has stalled.
     */
    failed: (client: pg.PoolClient, longestMs: number) => {
      const since = waiting.get(client) ?? performance.now()
      waiting.delete(client)
      // A timer may be a moment early.
      const isLate = performance.now() - since > 0.9 * longestMs
      if (longestMs > SOON_MS || !isLate) return
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
