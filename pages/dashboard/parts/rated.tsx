import type { Rating } from '../../../lib/contract/telemetry/rating.ts'

export const RATING_LABELS: Readonly<Record<Rating, string>> = {
  good: 'Good',
  'needs-improvement': 'Needs improvement',
  poor: 'Poor',
}

interface RatedProps {
  readonly text: string
  /** null: too few values for a rating. */
  readonly rating: Rating | null
}

/** A value with its rating: a colour, a shape that the style sheet draws, and a word for those who hear it. */
export function Rated({ text, rating }: RatedProps) {
  if (rating === null) return <span class="whole soft">{text}</span>
  return (
    <span class={`rated whole ${rating}`}>
      {text}
      <span class="unseen"> {RATING_LABELS[rating]}</span>
    </span>
  )
}
