import { dayText, minuteText } from './format.ts'

interface TimeProps {
  /** ISO 8601 in UTC; null: never. */
  readonly at: string | null
  readonly precision?: 'day' | 'minute'
}

/** A time in UTC, as in the API. */
export function Time({ at, precision = 'minute' }: TimeProps) {
  if (at === null) return <span class="soft">Never</span>
  const text = precision === 'day' ? dayText(at) : minuteText(at)
  return (
    <time datetime={at} title={`${minuteText(at)} UTC`}>
      {text}
    </time>
  )
}
