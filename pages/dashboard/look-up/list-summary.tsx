import { PRECISIONS } from '../../../lib/contract/geo/geolocation.ts'
import type { AddressSummary } from '../../../lib/contract/geo/summary.ts'
import { labelOf } from '../../facts.ts'
import { numbers, Table } from '../../table.tsx'
import { count, percent } from '../parts/format.ts'

export type ListCounts = Omit<AddressSummary, 'meta'>

interface ListSummaryProps {
  readonly summary: ListCounts
  /** The rows whose address is not looked up yet. */
  readonly waiting?: number
}

/** The number of rows by country, city, network and precision. */
export function ListSummary({ summary, waiting = 0 }: ListSummaryProps) {
  const { addresses, precision, countries, cities, networks } = summary
  const located = addresses.total - addresses.invalid
  return (
    <>
      <dl class="facts">
        <Fact name="Rows" value={addresses.total + waiting} />
        <Fact name="Different addresses" value={addresses.distinct} />
        <Fact name="Rows without an address" value={addresses.invalid} />
        {waiting > 0 && <Fact name="Rows not looked up" value={waiting} />}
      </dl>
      <div class="counts">
        <Counts
          name="Country"
          of={located}
          rows={countries.map(({ code, name, count: n }) => [`${name} (${code})`, n])}
        />
        <Counts
          name="Network"
          of={located}
          rows={networks.map(({ asn, organization, count: n }) => [
            organization === undefined ? asn : `${organization} (${asn})`,
            n,
          ])}
        />
        <Counts
          name="City"
          of={located}
          rows={cities.map(({ name, region, country, count: n }) => [
            `${name}, ${region ?? country}`,
            n,
          ])}
        />
        <Counts
          name="Precision"
          of={located}
          rows={PRECISIONS.map((level) => [labelOf(level), precision[level]])}
        />
      </div>
    </>
  )
}

function Fact({ name, value }: { readonly name: string; readonly value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{count(value)}</dd>
    </div>
  )
}

interface CountsProps {
  readonly name: string
  /** The number that is 100%. */
  readonly of: number
  readonly rows: readonly (readonly [name: string, count: number])[]
}

function Counts({ name, of, rows }: CountsProps) {
  if (rows.length === 0) return null
  return (
    <Table
      heads={[name, ...numbers('Rows', 'Share')]}
      rows={rows.map(([value, n]) => [value, count(n), of === 0 ? '–' : percent(n / of)])}
    />
  )
}
