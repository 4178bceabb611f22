import { LANGUAGES } from '../../../lib/contract/geo/geolocation.ts'
import { INCLUDES, includeTexts } from '../../../lib/contract/geo/includes.ts'
import { numbers } from '../../table.tsx'
import type { Block, GuideFacts } from './block.ts'

/** Measured: docs/accuracy.md. */
const AGREEMENT_ROWS = [
  ['1', '99.4%', '97.5%'],
  ['0.75', '100%', '76.6%'],
  ['0.5', '97.2%', '74.6%'],
  ['0', '88.9%', '86.8%'],
]

export function fieldGuide({ url, result }: GuideFacts): Block[] {
  return [
    'A look-up answers with all that is known. Fields without a value are left out, never null. Names of fields inside others are joined by dots, such as `location.city`.',
    { heading: 'Only some fields' },
    '`fields` takes names separated by commas. With `Accept: text/plain` each value is a line of text. An unknown name is answered with 400, and the message quotes it.',
    {
      code: `curl -H 'X-API-Key: YOUR_API_KEY' -H 'Accept: text/plain' \\
  '${url}/v1/ip/81.2.69.160?fields=location.country.code'`,
    },
    { heading: 'More than by default' },
    '`include` takes one or more of these, and adds to the answer:',
    { list: includeTexts(INCLUDES) },
    { heading: 'How sure an answer is' },
    '`geoConfidence` says how well two providers agree: 1 for the same city, 0.75 for the same region, 0.5 for the same country, 0 for different countries. Measured on what 89 network operators publish about 13,447 of their networks, with the bundled databases:',
    {
      heads: ['geoConfidence', ...numbers('Country right', 'Named city within 50 km')],
      rows: AGREEMENT_ROWS,
    },
    'An answer of precision `country` has no `geoConfidence`. Its absence there may mean that the providers disagree.',
    '`location.confidence` has `country`, `region` and `city`: the shares of right answers among those that rest on the same products, agreement, precision and radius; for the city, right is within 50 km. `"city": 0.75` means that three of four such answers were. Answers that rest on data that was not measured have none.',
    { heading: 'Names in other languages' },
    `\`lang\` takes ${oneOf(LANGUAGES)}, or \`auto\`: then the header \`Accept-Language\` decides. Names without a translation are in English.`,
    { heading: 'All fields' },
    ...result.map(({ fields }) => ({ fields })),
  ]
}

function oneOf(names: readonly string[]): string {
  const codes = names.map((name) => `\`${name}\``)
  return `${codes.slice(0, -1).join(', ')} or ${codes.at(-1)}`
}
