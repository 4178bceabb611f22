import type { ApiKeyInfo } from '../../../lib/contract/account/account-schemas.ts'
import { SESSION } from '../../../lib/contract/account/usage-details.ts'
import { Option, Select } from '../parts/field.tsx'
import { undirected } from '../parts/given.tsx'
import { ENDPOINTS, endpointName } from './endpoints.ts'

export const PERIODS = { '7d': 7, '30d': 30, '90d': 90 } as const
export type PeriodName = keyof typeof PERIODS

/** How the chart splits each day. */
export const SPLITS = { status: 'Result', endpoint: 'Endpoint' } as const
export type Split = keyof typeof SPLITS

/** The filters in the URL of the page. */
export interface UsageChoice {
  readonly period: PeriodName
  /** Id of a key, or `session`; empty: all. */
  readonly key: string
  /** Id of an operation; empty: all. */
  readonly operation: string
  readonly split: Split
}

/** A key as far as this page shows it. */
export type NamedKey = Pick<ApiKeyInfo, 'id' | 'name' | 'prefix'>

interface FiltersProps {
  readonly base: string
  readonly choice: UsageChoice
  readonly keys: readonly NamedKey[]
}

/** The form that filters the counts. With a script it needs no button, which the style sheet hides. */
export function Filters({ base, choice, keys }: FiltersProps) {
  const { period, key, operation, split } = choice
  return (
    <form class="filters" method="get" action={`${base}/app/usage`}>
      <Select name="key" label="Key">
        <Option value="" text="All requests" chosen={key} />
        {withChosen(keys, key).map(({ id, name }) => (
          <Option value={id} text={undirected(name)} chosen={key} />
        ))}
        <Option value={SESSION} text="Signed in, without a key" chosen={key} />
      </Select>
      <Select name="period" label="Period (UTC)">
        {Object.entries(PERIODS).map(([name, days]) => (
          <Option value={name} text={`Last ${days} days`} chosen={period} />
        ))}
      </Select>
      <Select name="operation" label="Endpoint">
        <Option value="" text="All endpoints" chosen={operation} />
        <EndpointOptions chosen={operation} />
      </Select>
      <Select name="split" label="Split by">
        {Object.entries(SPLITS).map(([name, text]) => (
          <Option value={name} text={text} chosen={split} />
        ))}
      </Select>
      <button type="submit">Show</button>
    </form>
  )
}

/** The key may have been revoked since it was used. */
function withChosen(keys: readonly NamedKey[], chosen: string): readonly NamedKey[] {
  const isListed = chosen === '' || chosen === SESSION || keys.some(({ id }) => id === chosen)
  return isListed ? keys : [...keys, { id: chosen, name: revokedName(chosen), prefix: '' }]
}

/** The name of a key that is not in the list any more. */
export function revokedName(id: string): string {
  return `Revoked key ${id.slice(0, 8)}…`
}

function EndpointOptions({ chosen }: { readonly chosen: string }) {
  const isListed = chosen === '' || ENDPOINTS.some(({ id }) => id === chosen)
  return (
    <>
      {[...Map.groupBy(ENDPOINTS, ({ tag }) => tag)].map(([tag, own]) => (
        <optgroup label={tag}>
          {own.map(({ id, name }) => (
            <Option value={id} text={name} chosen={chosen} />
          ))}
        </optgroup>
      ))}
      {!isListed && <Option value={chosen} text={endpointName(chosen)} chosen={chosen} />}
    </>
  )
}
