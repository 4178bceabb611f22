import { type Child, createContext, useContext } from 'hono/jsx'
import { clockText, dayText, minuteText, rangeText } from '../../time-text.ts'
import { startOfHour } from './format.ts'

/** When a page is made; null for a part that is kept for later pages. */
const Now = createContext<number | null>(null)

interface MadeAtProps {
  /** Epoch milliseconds. Times of its year are shown without a year. */
  readonly now: number
  readonly children?: Child
}

/** A page with the times in it. */
export function MadeAt({ now, children }: MadeAtProps) {
  return <Now value={now}>{children}</Now>
}

interface TimeProps {
  /** ISO 8601 in UTC, of a time or a day; null: never. */
  readonly at: string | null
  readonly precision?: 'day' | 'minute' | 'clock'
}

/** A time in UTC, as the foot of pages says. The title has the exact one. */
export function Time({ at, precision = 'minute' }: TimeProps) {
  const now = useContext(Now)
  if (at === null) return <span class="soft">Never</span>
  const time = Date.parse(at)
  const texts = {
    day: dayText(time, now),
    minute: minuteText(time, now),
    clock: `${clockText(time)} UTC`,
  }
  return (
    <time datetime={at} title={exactText(at)}>
      {texts[precision]}
    </time>
  )
}

/** From one time to another, both in ISO 8601 in UTC. */
export function TimeRange({ from, to }: { readonly from: string; readonly to: string }) {
  const text = rangeText(Date.parse(from), Date.parse(to), useContext(Now))
  return <span title={`${exactText(from)} to ${exactText(to)}`}>{text}</span>
}

const HOUR_MS = 3_600_000

/** An hour in the format of the API, 2026-01-15T11, by its ends; null: never. */
export function Hour({ hour }: { readonly hour: string | null }) {
  if (hour === null) return <Time at={null} />
  const from = startOfHour(hour)
  return (
    <>
      <Time at={from} /> to{' '}
      <Time at={new Date(Date.parse(from) + HOUR_MS).toISOString()} precision="clock" />
    </>
  )
}

function exactText(at: string): string {
  return `${at.slice(0, 19).replace('T', ' ')} UTC`
}
