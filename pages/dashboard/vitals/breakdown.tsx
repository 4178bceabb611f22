import { Table } from '../../table.tsx'
import { Fold } from '../parts/fold.tsx'
import { count } from '../parts/format.ts'
import { Rated } from './rated.tsx'
import { CURRENT_VITALS, type Percentiles75, percent } from './rating.ts'

interface Part {
  readonly name: string
  readonly sampleCount: number
  /** Undefined if only views are counted. */
  readonly p75?: Percentiles75
}

export interface BreakdownProps {
  readonly id: string
  readonly title: string
  readonly column: string
  readonly note?: string | undefined
  /** The largest first. */
  readonly parts: readonly Part[]
}

/** Parts with a smaller share of the views are collapsed. */
const SMALL = 0.005
/** Parts that are named beside the heading. */
const AT_A_GLANCE = 3

export function Breakdown({ id, title, column, note, parts }: BreakdownProps) {
  const total = parts.reduce((sum, { sampleCount }) => sum + sampleCount, 0)
  if (total === 0) return null
  const large = parts.filter(({ sampleCount }) => sampleCount / total >= SMALL)
  const small = parts.slice(large.length)
  const shared = { label: title, column, total }
  const first = large.slice(0, AT_A_GLANCE)
  const glance = first.map(({ name, sampleCount }) => `${name} ${percent(sampleCount / total)}`)
  return (
    <Fold id={id} title={title} glance={glance.join(', ')}>
      {note !== undefined && <p class="soft small">{note}</p>}
      <Parts parts={large} {...shared} />
      {small.length > 0 && (
        <details>
          <summary>
            Show all: {small.length} more, each under {percent(SMALL)} of the views
          </summary>
          <Parts parts={small} {...shared} label={`${title}, under ${percent(SMALL)}`} />
        </details>
      )}
    </Fold>
  )
}

interface PartsProps extends Pick<BreakdownProps, 'column' | 'parts'> {
  readonly label: string
  readonly total: number
}

function Parts({ label, column, parts, total }: PartsProps) {
  const vitals = parts.some(({ p75 }) => p75 !== undefined) ? CURRENT_VITALS : []
  const heads = [...vitals.map((vital) => `${vital.toUpperCase()} p75`), 'Views', 'Share']
  return (
    <section class="wide stacked breakdown" tabindex={0} aria-label={`Table of ${label}`}>
      <Table heads={[column, ...heads]}>
        {parts.map(({ name, sampleCount, p75 }) => {
          const cells = [
            ...vitals.map((vital) => <Rated vital={vital} value={p75?.[vital] ?? null} />),
            count(sampleCount),
            percent(sampleCount / total),
          ]
          return (
            <tr>
              <th scope="row">{name}</th>
              {cells.map((cell, at) => (
                <td data-head={heads[at]}>{cell}</td>
              ))}
            </tr>
          )
        })}
      </Table>
    </section>
  )
}
