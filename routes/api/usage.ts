import { isExpired } from '../../lib/access/keys.ts'
import { dateOfDay, dayOf } from '../../lib/config/period.ts'
import type { Services } from '../../lib/services/services.ts'
import { readDailyLookUps } from '../../lib/usage/daily-look-ups.ts'
import { listKeysWithLastUse } from '../../lib/usage/last-used.ts'
import { readUsageDetails, toWantedUsage, usageCsv } from '../../lib/usage/usage-details.ts'
import type { Handlers } from '../context.ts'

const DAYS = 30

type Parts = Pick<Services, 'db' | 'ledger' | 'meters' | 'requestCounts' | 'storage'>

export function usageHandlers(services: Parts) {
  const { ledger, meters, storage } = services
  return {
    getUsage: async ({ caller, now }) => {
      const { userId, plan, paid } = caller
      const keys = await listKeysWithLastUse(services, userId)
      const body = await ledger.betweenFlushes(async () => {
        const first = dayOf(now) - DAYS + 1
        const countLookUps = await readDailyLookUps(services, userId, first)
        await meters.refresh(caller, now)
        // From here, counters are read without awaiting, so that they belong to the same moment.
        return {
          totalKeys: keys.length,
          activeKeys: keys.filter((key) => !isExpired(key, now)).length,
          totalRequests: meters.periodRequests(caller, now),
          monthlyCap: paid?.overages ? null : plan.monthlyCap,
          dailyUsage: listDays(countLookUps(), first),
          keys: keys.map((key) => ({
            keyPrefix: key.prefix,
            keyName: key.name,
            isActive: !isExpired(key, now),
            lastUsedAt: key.lastUsedAt === null ? null : new Date(key.lastUsedAt).toISOString(),
            rateLimitRemaining: meters.peek({ userId, plan, key }, now).remaining,
            rateLimitMax: plan.requestsPerMinute,
          })),
        }
      })
      return { status: 200, body }
    },
    getUsageDetails: async ({ caller, query, form, now }) => {
      const wanted = toWantedUsage(caller.userId, query, now)
      const body = await readUsageDetails(storage.longReads, wanted)
      if (form === 'application/json') return { status: 200, body }
      return { status: 200, form, text: usageCsv(wanted.by, body.rows) }
    },
  } satisfies Partial<Handlers>
}

/** Oldest first, up to today, including days without requests. */
function listDays(lookUps: ReadonlyMap<number, number>, first: number) {
  return Array.from({ length: DAYS }, (_, n) => {
    return { date: dateOfDay(first + n), requests: lookUps.get(first + n) ?? 0 }
  })
}
