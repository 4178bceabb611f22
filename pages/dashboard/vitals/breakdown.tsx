import { count } from '../words.ts'
import { Rated } from './rated.tsx'
import { type Percentiles75, percent, VITALS } from './rating.ts'

interface Part {
  readonly name: string
  readonly sampleCount: number
  /** Undefined where only views are counted. */
  readonly p75?: Percentiles75
}

export interface BreakdownProps {
  readonly id: string
  readonly title: string
  readonly column: string
  /** What the reader has to know. */
  readonly note?: string | undefined
  /** The largest first. */
  readonly parts: readonly Part[]
}

/** Less than this share of all is shown only on request: so few say little. */
const SMALL = 0.005

export function Breakdown({ id, title, column, note, parts }: BreakdownProps) {
  const total = parts.reduce((sum, { sampleCount }) => sum + sampleCount, 0)
  if (total === 0) return null
  const large = parts.filter(({ sampleCount }) => sampleCount / total >= SMALL)
  const small = parts.slice(large.length)
  const shared = { label: title, column, total }
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
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
    </section>
  )
}

interface PartsProps extends Pick<BreakdownProps, 'column' | 'parts'> {
  readonly label: string
  readonly total: number
}

function Parts({ label, column, parts, total }: PartsProps) {
  const vitals = parts.some(({ p75 }) => p75 !== undefined) ? VITALS : []
  return (
    <section class="wide" tabindex={0} aria-label={`Table of ${label}`}>
      <table class="breakdown">
        <thead>
          <tr>
            <th scope="col">{column}</th>
            {vitals.map((vital) => (
              <th scope="col">{vital.toUpperCase()} p75</th>
            ))}
            <th scope="col">Views</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ name, sampleCount, p75 }) => (
            <tr>
              <th scope="row">{name}</th>
              {vitals.map((vital) => (
                <td>
                  <Rated vital={vital} value={p75?.[vital] ?? null} />
                </td>
              ))}
              <td>{count(sampleCount)}</td>
              <td>{percent(sampleCount / total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
