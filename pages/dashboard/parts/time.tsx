import { dayInWords, dayText, minuteText } from './format.ts'

interface TimeProps {
  /** ISO 8601 in UTC; null: never. */
  readonly at: string | null
  /** `words`: a day within a sentence, near enough to need no year. */
  readonly precision?: 'day' | 'minute' | 'words'
}

/** A time in UTC, as in the API. Days have no room for it: their title says the time and the zone. */
export function Time({ at, precision = 'minute' }: TimeProps) {
  if (at === null) return <span class="soft">Never</span>
  const minute = `${minuteText(at)} UTC`
  const text = { day: dayText(at), minute, words: dayInWords(at) }[precision]
  return (
    <time datetime={at} title={minute}>
      {text}
    </time>
  )
}
