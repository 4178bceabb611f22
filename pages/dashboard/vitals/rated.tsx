import type { Vital } from '../../../lib/contract/telemetry/metrics.ts'
import { RATING_LABELS, rate, valueText } from './rating.ts'

/** A value with its rating, as a colour and as a word. */
export function Rated({ vital, value }: { vital: Vital; value: number | null }) {
  if (value === null) return <span class="soft">–</span>
  const rating = rate(vital, value)
  return (
    <span class={`rated ${rating}`}>
      {valueText(vital, value)} <small>{RATING_LABELS[rating]}</small>
    </span>
  )
}
