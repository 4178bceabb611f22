import type { Summary } from '../../../lib/address-lists/summary.ts'
import { PRECISIONS } from '../../../lib/contract/geo/geolocation.ts'
import { jsonText } from '../../parts/json-text.ts'

/** Prints the summary to stdout: for people, or as JSON. */
export function printSummary(summary: Summary, { json }: { readonly json: boolean }): void {
  process.stdout.write(json ? jsonText(summary) : `${summaryText(summary)}\n`)
}

/** A summary for people, as lines of text. */
export function summaryText(summary: Summary): string {
  const { addresses, precision, countries, regions, networks, cities, privacy } = summary
  const located = addresses.total - addresses.invalid
  const section = (title: string, counts: readonly Count[]) => [
    '',
    title,
    ...counts.map(([name, count]) => lineOf(name, count, located)),
  ]
  return [
    `${counted(addresses.total, 'row')}, ${counted(addresses.distinct, 'different address', 'es')}, ${counted(addresses.invalid, 'row')} without an address`,
    ...section(
      'Countries',
      countries.map(({ code, name, count }) => [`${name} (${code})`, count]),
    ),
    ...section(
      'Regions',
      regions.map(({ code, name, count }) => [`${name} (${code})`, count]),
    ),
    ...section(
      'Networks',
      networks.map(({ asn, organization = '', count }) => [`${asn} ${organization}`, count]),
    ),
    ...section(
      'Cities',
      cities.map(({ name, region, country, count }) => [`${name}, ${region ?? country}`, count]),
    ),
    ...section(
      'Precision',
      PRECISIONS.map((level) => [level, precision[level]]),
    ),
    ...(privacy === undefined ? [] : section('Privacy', countsOf(privacy))),
  ].join('\n')
}

function countsOf(flags: NonNullable<Summary['privacy']>): Count[] {
  return Object.entries(flags).map(([flag, count = 0]) => [flag, count])
}

type Count = readonly [name: string, count: number]

const COUNT_WIDTH = 13
const SHARE_WIDTH = 8

function lineOf(name: string, count: number, whole: number): string {
  const share = whole === 0 ? '–' : `${((100 * count) / whole).toFixed(1)} %`
  return `${inEnglish(count).padStart(COUNT_WIDTH)}${share.padStart(SHARE_WIDTH)}  ${withoutControls(name)}`
}

function counted(count: number, name: string, plural = 's'): string {
  return `${inEnglish(count)} ${name}${count === 1 ? '' : plural}`
}

function inEnglish(count: number): string {
  return count.toLocaleString('en')
}

/** Without characters that control a terminal: others choose the names of places and networks. */
function withoutControls(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  return name.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
}
