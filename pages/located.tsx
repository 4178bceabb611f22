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
  /** What the address is, such as “Your address”. */
  readonly eyebrow: string
  readonly result: GeolocationResult
  readonly note?: string | undefined
  readonly request?: ApiRequest | undefined
}

/** The result of a look-up, in words and as JSON. */
export function Located({ eyebrow, result, note, request }: LocatedProps) {
  return (
    <div class="located">
      <p class="eyebrow">{eyebrow}</p>
      <h2 class="address">{result.query?.value}</h2>
      <p class="place">{placeOf(result) ?? 'No data for this address'}</p>
      {note !== undefined && <p class="note">{note}</p>}
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
