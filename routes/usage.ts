import type { Caller } from '../lib/access/authenticate.ts'
import { isExpired, type KeyRow, listKeys } from '../lib/access/keys.ts'
import type { UsageStats } from '../lib/contract/account-schemas.ts'
import { dateOfDay, dayOf } from '../lib/limits/period.ts'
import type { Services } from '../lib/services/services.ts'
import type { Handlers } from './context.ts'

const DAYS = 30

/** Nothing is awaited once the first counter is read: all of them are of one moment. */
export function usageHandlers(services: Services) {
  return {
    getUsage: async ({ caller, now }) => {
      const keys = await listKeys(services.db, caller.userId)
      return { status: 200, body: toUsage(services, keys, { caller, now }) }
    },
  } satisfies Partial<Handlers>
}

interface Asked {
  readonly caller: Caller
  readonly now: number
}

function toUsage(services: Services, keys: readonly KeyRow[], { caller, now }: Asked): UsageStats {
  const { userId, plan, paid } = caller
  const activeKeys = keys.filter((key) => !isExpired(key, now))
  return {
    totalKeys: keys.length,
    activeKeys: activeKeys.length,
    totalRequests: services.meters.periodRequests(caller, now),
    monthlyCap: paid?.overages === true ? null : plan.monthlyCap,
    dailyUsage: lastDays(services, userId, now),
    keys: keys.map((key) => toKeyUsage(services, key, { caller, now })),
  }
}

/** Oldest first, the current day last, days without requests included. */
function lastDays({ meters }: Services, userId: string, now: number): UsageStats['dailyUsage'] {
  const first = dayOf(now) - DAYS + 1
  const requests = meters.requestsByDay(userId, first)
  return Array.from({ length: DAYS }, (_, n) => {
    return { date: dateOfDay(first + n), requests: requests.get(first + n) ?? 0 }
  })
}

function toKeyUsage(
  { meters, lastUsed }: Services,
  key: KeyRow,
  { caller: { plan }, now }: Asked,
): UsageStats['keys'][number] {
  const usedAt = lastUsed.unwritten(key.id) ?? key.lastUsedAt
  return {
    keyPrefix: key.prefix,
    keyName: key.name,
    isActive: !isExpired(key, now),
    lastUsedAt: usedAt === null ? null : new Date(usedAt).toISOString(),
    rateLimitRemaining: meters.look(key.id, plan, now).remaining,
    rateLimitMax: plan.requestsPerMinute,
  }
}
