import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { FactList } from '../../fact-list.tsx'
import { Fold } from '../parts/fold.tsx'
import { count, counted } from '../parts/format.ts'
import { Time } from '../parts/time.tsx'

type PageError = RumOverview['errors'][number]

/** Lists the errors, the most frequent first. */
export function PageErrors({ errors, note }: Pick<RumOverview, 'errors'> & { note: string }) {
  return (
    <Fold
      id="errors"
      title="Page errors"
      glance={errors.length === 0 ? 'None' : counted(errors.length, 'kind', 'kinds')}
    >
      {note !== '' && <p class="soft small">{note}</p>}
      {errors.length === 0 ? (
        <p>None in this period.</p>
      ) : (
        <ul class="entries">
          {errors.map((error) => (
            <ErrorItem error={error} />
          ))}
        </ul>
      )}
    </Fold>
  )
}

function ErrorItem({ error }: { readonly error: PageError }) {
  const { message, type, count: times, firstSeenAt, lastSeenAt, path, stack } = error
  const source = sourceOf(error)
  return (
    <li>
      <details>
        <summary>
          <span class="message">{message}</span>{' '}
          <span class="badge" title={`${count(times)} in this period`}>
            {counted(times, 'time', 'times')}
          </span>
        </summary>
        <FactList
          facts={[
            ['Type', type],
            ['Source', source === undefined ? undefined : <code>{source}</code>],
            ['Example page', path],
            ['First seen in this period', <Time at={firstSeenAt} />],
            ['Last seen in this period', <Time at={lastSeenAt} />],
          ]}
        />
        {stack !== undefined && <pre tabindex={0}>{stack}</pre>}
      </details>
    </li>
  )
}

/** `source:line:column`, as in a stack trace. */
function sourceOf({ source, line, column }: PageError): string | undefined {
  const place = [source, line, column].filter((part) => part !== undefined).join(':')
  return place === '' ? undefined : place
}
