import { createHash } from 'node:crypto'
import type { Script } from './connection.ts'

/**
 * Charges buckets and grants a node requests, by the same rule as `lease_buckets` in PostgreSQL. KEYS are
 * the buckets. ARGV has the time (empty: the time of the server), the number of nodes, and for each bucket
 * the capacity, windowMs, debt, returned, need and want of its `Ask`. Returns two numbers for each bucket,
 * separated by spaces: the granted requests, and all requests that are charged now.
 *
 * A bucket is stored as the text `spent at`. It expires when it has refilled.
 */
const SOURCE = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local nodes = tonumber(ARGV[2])
local grants = {}
for i, key in ipairs(KEYS) do
  local first = 6 * i - 3
  local capacity, window = tonumber(ARGV[first]), tonumber(ARGV[first + 1])
  local debt, back = tonumber(ARGV[first + 2]), tonumber(ARGV[first + 3])
  local need, want = tonumber(ARGV[first + 4]), tonumber(ARGV[first + 5])
  local stored = redis.call('GET', key)
  local spent, at = string.match(stored or '', '^(%S+) (%S+)$')
  local kept, since = tonumber(spent) or 0, tonumber(at) or now
  -- Forgets what nodes cannot have spent with this capacity: the user has changed to a smaller plan.
  kept = math.min(kept, 2 * capacity + nodes)
  kept = kept - math.max(0, now - since) * capacity / window - back
  kept = math.max(0, kept) + debt
  local free = math.max(0, math.floor(capacity - kept + 1e-6))
  local share = math.min(want, math.floor(free / (2 * nodes)))
  local granted = math.min(free, math.max(need, share))
  local charged = kept + granted
  if charged > 0 then
    local full = math.ceil(charged * window / capacity)
    redis.call('SET', key, string.format('%.17g %.0f', charged, now), 'PX', full)
  elseif stored then
    redis.call('DEL', key)
  end
  grants[i] = string.format('%.0f %.17g', granted, charged)
end
return table.concat(grants, ' ')`

export const CHARGE: Script = {
  source: SOURCE,
  sha: createHash('sha1').update(SOURCE).digest('hex'),
}
