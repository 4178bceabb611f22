import type { GeolocationResult } from '../lib/contract/geolocation.ts'
import { factsOf, placeOf } from './facts.ts'
import type { AskedApi } from './outcome.tsx'

interface LocatedProps {
  readonly result: GeolocationResult
  readonly request?: AskedApi | undefined
  readonly isOwn: boolean
}

/** An answer of a look-up, in words and as it is. */
export function Located({ result, request, isOwn }: LocatedProps) {
  return (
    <div class="located">
      <p class="eyebrow">{isOwn ? 'Your address' : 'Looked up'}</p>
      <h2 class="address">{result.query?.value}</h2>
      <p class="place">{placeOf(result) ?? 'Nothing is known about this address'}</p>
      <Notes result={result} isOwn={isOwn} />
      <dl class="facts">
        {factsOf(result).map(({ name, value }) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <details>
        <summary>The answer as JSON</summary>
        {request !== undefined && (
          <p class="request">
            GET {request.path} · {request.status} · {request.ms} ms
          </p>
        )}
        <pre tabindex={0}>{JSON.stringify(result, null, 2)}</pre>
      </details>
    </div>
  )
}

function Notes({ result, isOwn }: Omit<LocatedProps, 'request'>) {
  if (result.meta?.precision !== 'none') return null
  return (
    <p class="note">
      {isOwn
        ? 'You reach this server over a private network, or from a network that no database has.'
        : 'It is private, reserved or not in use, or no database has it yet.'}
    </p>
  )
}
