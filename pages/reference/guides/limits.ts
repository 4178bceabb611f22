import { count } from '../../dashboard/parts/format.ts'
import { numbers } from '../../table.tsx'
import { rateText } from '../limit-text.ts'
import type { Block, GuideFacts } from './block.ts'

export function limitGuide({ plans, rates }: GuideFacts): Block[] {
  return [
    'A plan limits the requests per minute of each key, and the look-ups per month of all keys together. [The plans](/#plans).',
    {
      heads: ['Plan', ...numbers('Requests per minute and key', 'Look-ups per month')],
      rows: plans.map(({ name, requestsPerMinute, monthlyCap }) => [
        name,
        count(requestsPerMinute),
        count(monthlyCap),
      ]),
    },
    { heading: 'Per minute' },
    'Requests come back evenly: with 120 per minute, one every half second. Every answer of a limited operation says what is left. Over the limit the answer is 429 `RATE_LIMITED`; wait for the seconds in `Retry-After`.',
    { code: `RateLimit-Policy: "per-key";q=120;w=60\nRateLimit: "per-key";r=119;t=1` },
    '`q` requests are allowed in `w` seconds; `r` are left, and more are available in `t` seconds.',
    { heading: 'Per month' },
    'Look-ups that are answered with 200 or 404 count. Over the cap, look-ups still answer 200, but with only the country and with `meta.degraded`; look-ups of timezones answer 403 `PLAN_CAP_EXCEEDED`. Paid requests over the cap avoid both, where the plan offers them.',
    { heading: 'Other limits' },
    {
      list: [
        `Account and billing: ${rateText(rates.account)} for each user.`,
        `Operations without a key: ${rateText(rates.address)} for each IP address.`,
        `Beacons: ${rateText(rates.beacon)} for each IP address.`,
        `Inquiries: ${rateText(rates.contact)} for each IP address.`,
        'Bodies: 16 KB, unless the operation says otherwise. Larger ones answer 413 `PAYLOAD_TOO_LARGE`.',
      ],
    },
  ]
}
