import type { Vital } from '../../../lib/contract/vitals.ts'
import { RATING_WORDS, rate, valueText } from './rating.ts'

interface RatedProps {
  readonly vital: Vital
  /** null: there is none. */
  readonly value: number | null
}

/** A value with its rating, as a colour and as a word. */
export function Rated({ vital, value }: RatedProps) {
  if (value === null) return <span class="soft">–</span>
  const rating = rate(vital, value)
  return (
    <span class={`rated ${rating}`}>
      {valueText(vital, value)} <small>{RATING_WORDS[rating]}</small>
    </span>
  )
}
