import type { RumOverview } from '../../../lib/contract/telemetry-overview.ts'
import { Time } from '../time.tsx'
import { count, counted } from '../words.ts'

type PageError = RumOverview['errors'][number]

interface PageErrorsProps {
  /** The most frequent first. */
  readonly errors: readonly PageError[]
  readonly note?: string | undefined
}

export function PageErrors({ errors, note }: PageErrorsProps) {
  return (
    <section class="card" aria-labelledby="errors">
      <h2 id="errors">Errors of pages</h2>
      {note !== undefined && <p class="soft small">{note}</p>}
      {errors.length === 0 ? (
        <p>None in this period.</p>
      ) : (
        <ul class="page-errors">
          {errors.map((error) => (
            <ErrorItem error={error} />
          ))}
        </ul>
      )}
    </section>
  )
}

function ErrorItem({ error }: { readonly error: PageError }) {
  const { message, type, count: times, firstSeenAt, lastSeenAt, path, stack } = error
  const place = placeOf(error)
  return (
    <li>
      <details>
        <summary>
          <span class="message">{message}</span>{' '}
          <span class="badge" title={`${count(times)} in this period`}>
            {counted(times, 'time', 'times')}
          </span>
        </summary>
        <dl class="facts">
          <Fact name="Type" value={type} />
          <Fact name="Source" value={place} />
          <Fact name="First on the page" value={path} />
          <div>
            <dt>First seen (UTC)</dt>
            <dd>
              <Time at={firstSeenAt} />
            </dd>
          </div>
          <div>
            <dt>Last seen (UTC)</dt>
            <dd>
              <Time at={lastSeenAt} />
            </dd>
          </div>
        </dl>
        {stack !== undefined && <pre tabindex={0}>{stack}</pre>}
      </details>
    </li>
  )
}

function Fact({ name, value }: { readonly name: string; readonly value: string | undefined }) {
  if (value === undefined) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** Source with line and column, as stacks write it. */
function placeOf({ source, line, column }: PageError): string | undefined {
  const place = [source, line, column].filter((part) => part !== undefined).join(':')
  return place === '' ? undefined : place
}
