import { BATCH_MAX } from '../../../lib/contract/geo/batch.ts'
import { count } from '../../dashboard/parts/format.ts'
import type { Block, GuideFacts } from './block.ts'

export function batchGuide({ url }: GuideFacts): Block[] {
  return [
    `[One request](/docs/operations/locateBatch) looks up as many as ${count(BATCH_MAX)} addresses, and answers in their order.`,
    {
      code: `curl -H 'X-API-Key: YOUR_API_KEY' ${url}/v1/ip/batch \\
  -d '{"ips": ["81.2.69.160", "nowhere"], "fields": ["query.value", "location.city"]}'`,
    },
    { heading: 'What it costs' },
    'Each address counts as one look-up of the month, found or not. A hundred addresses cost one request of the limit per minute. A text that is not an address gets an error in its place and costs nothing. Addresses over the monthly cap get only the country.',
    { heading: 'As lines or as a table' },
    'With `Accept: application/x-ndjson` each result is a line of JSON; with `Accept: text/csv` it is a row, whose columns are the names in `fields`. Texts that a spreadsheet would run as a formula are escaped.',
    { heading: 'Only to count' },
    'To know where many addresses are, and not where each is, [count them](/docs/operations/summarizeAddresses) by country, region, city and network. The [dashboard](/app/batch) looks up whole files of any length.',
  ]
}
