import { dayText, minuteText } from './format.ts'

interface TimeProps {
  /** ISO 8601 in UTC; null: never. */
  readonly at: string | null
  readonly precision?: 'day' | 'minute'
}

/** A time in UTC, as in the API. Days have no room for it: their title says the time and the zone. */
export function Time({ at, precision = 'minute' }: TimeProps) {
  if (at === null) return <span class="soft">Never</span>
  const minute = `${minuteText(at)} UTC`
  const text = precision === 'day' ? dayText(at) : minute
  return (
    <time datetime={at} title={minute}>
      {text}
    </time>
  )
}
