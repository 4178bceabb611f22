import { CORE_VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import { columnText, MIN_VIEWS, rate } from '../../../lib/contract/telemetry/rating.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import type { Head } from '../../table.tsx'
import { Card } from '../parts/card.tsx'
import { count } from '../parts/format.ts'
import { Rated } from '../parts/rated.tsx'
import { type ShareRow, ShareTable } from '../parts/share-table.tsx'
import { type LinkTo, SORTS, type Sort, type VitalsChoice } from './choice.ts'
import type { Percentiles75 } from './rating.ts'

/** A page, country or kind of device. */
export interface Part {
  readonly name: string
  readonly href?: string | undefined
  readonly sampleCount: number
  readonly p75: Percentiles75
}

interface PartsProps {
  /** The id of the heading. */
  readonly id: string
  readonly column: string
  readonly parts: readonly Part[]
  readonly sort: Sort
  readonly linkTo: LinkTo
}

/** Rows that are shown at once. */
const AT_ONCE = 6

const SORT_LABELS: Readonly<Record<Sort, string>> = {
  views: 'Views',
  lcp: 'LCP',
  inp: 'INP',
  cls: 'CLS',
}

/** The parts of the views with their vitals. Only the first ones are shown until it is opened. */
export function Parts({ id, column, parts, sort, linkTo }: PartsProps) {
  const total = parts.reduce((sum, { sampleCount }) => sum + sampleCount, 0)
  const texts = CORE_VITALS.map((vital) => {
    return columnText(
      vital,
      parts.map(({ p75 }) => p75[vital]),
    )
  })
  const heads = [column, ...SORTS.map((name) => toHead(name, sort, linkTo({ sort: name }, id)))]
  const rows = parts
    .toSorted((a, b) => sortValue(b, sort) - sortValue(a, sort))
    .map((part) => toRow(part, total, texts))
  const rest = rows.slice(AT_ONCE)
  return (
    <>
      <ShareTable label={column} heads={heads} rows={rows.slice(0, AT_ONCE)} />
      {parts.some(({ sampleCount }) => sampleCount < MIN_VIEWS) && (
        <p class="soft small">Values are rated from {MIN_VIEWS} views on.</p>
      )}
      {rest.length > 0 && (
        <details>
          <summary>Show {rest.length} more</summary>
          <ShareTable label={`${column}, continued`} heads={heads} rows={rest} />
        </details>
      )}
    </>
  )
}

function toHead(name: Sort, sort: Sort, href: string): Head {
  const order = name === sort ? 'descending' : undefined
  return { text: SORT_LABELS[name], isNumber: true, href, sort: order }
}

/** The worst value or the largest number comes first; parts without values come last. */
function sortValue({ sampleCount, p75 }: Part, sort: Sort): number {
  return sort === 'views' ? sampleCount : (p75[sort] ?? -1)
}

/** `texts` write the values of each vital. */
function toRow(
  { name, href, sampleCount, p75 }: Part,
  total: number,
  texts: readonly ((value: number) => string)[],
): ShareRow {
  const values = CORE_VITALS.map((vital, at) => {
    const value = p75[vital]
    if (value === null) return <span class="soft">–</span>
    const rating = sampleCount < MIN_VIEWS ? null : rate(vital, value)
    return <Rated text={texts[at]?.(value) ?? ''} rating={rating} />
  })
  return { name, href, share: sampleCount / total, cells: [count(sampleCount), ...values] }
}

interface SharesProps {
  readonly overview: RumOverview
  readonly choice: VitalsChoice
  readonly names: ReadonlyMap<string, string>
  readonly linkTo: LinkTo
}

/** Where the views were: by page and by country. */
export function Shares({ overview, choice, names, linkTo }: SharesProps) {
  const { sort, path, country } = choice
  const pages = overview.paths.map(({ path, ...part }) => ({
    ...part,
    name: path,
    href: path.startsWith('/') ? linkTo({ path, country: '' }) : undefined,
  }))
  const countries = overview.countries.map(({ country, ...part }) => ({
    ...part,
    name: country === null ? 'Unknown' : (names.get(country) ?? country),
    href: country === null ? undefined : linkTo({ country, path: '' }),
  }))
  return (
    <div class="pair">
      <Card id="pages" title="Pages">
        {pages.length === 0 ? (
          <p class="soft">No path was sent.</p>
        ) : (
          <Parts id="pages" column="Page" parts={pages} sort={sort} linkTo={linkTo} />
        )}
        {country !== '' && <p class="soft small">Pages are counted over all countries.</p>}
      </Card>
      <Card id="countries" title="Countries">
        {path === '' ? (
          <Parts id="countries" column="Country" parts={countries} sort={sort} linkTo={linkTo} />
        ) : (
          <p class="soft">Pages are not counted by country.</p>
        )}
      </Card>
    </div>
  )
}
