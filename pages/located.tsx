import type { GeolocationResult } from '../lib/contract/geo/geolocation.ts'
import { FactList } from './fact-list.tsx'
import { factsOf, placeOf } from './facts.ts'

/** The API request that returned a result. */
export interface ApiRequest {
  readonly path: string
  readonly status: number
  readonly ms: number
}

interface LocatedProps {
  readonly result: GeolocationResult
  readonly request?: ApiRequest | undefined
  readonly isOwn: boolean
}

/** The result of a look-up, in words and as JSON. */
export function Located({ result, request, isOwn }: LocatedProps) {
  return (
    <div class="located">
      <p class="eyebrow">{isOwn ? 'Your address' : 'Looked up'}</p>
      <h2 class="address">{result.query?.value}</h2>
      <p class="place">{placeOf(result) ?? 'No data for this address'}</p>
      <UnknownNote result={result} isOwn={isOwn} />
      <FactList facts={factsOf(result)} />
      <details>
        <summary>Result as JSON</summary>
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

function UnknownNote({ result, isOwn }: Omit<LocatedProps, 'request'>) {
  if (result.meta?.precision !== 'none') return null
  return (
    <p class="note">
      {isOwn
        ? 'You reach this server over a private network, or no database lists your network.'
        : 'This address is private, reserved or unused, or no database lists it yet.'}
    </p>
  )
}
