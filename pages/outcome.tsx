import type { Child } from 'hono/jsx'
import type { GeolocationResult } from '../lib/contract/geo/geolocation.ts'
import { FactList } from './fact-list.tsx'
import { factsOf, placeOf } from './facts.ts'

/** The outcome of a look-up on a page. */
export type Outcome =
  | { readonly kind: 'located'; readonly result: GeolocationResult; readonly request?: ApiRequest }
  /** Shown to visitors whose own address, `own`, no database knows. */
  | { readonly kind: 'example'; readonly result: GeolocationResult; readonly own: string }
  | { readonly kind: 'invalid'; readonly text: string }
  | { readonly kind: 'limited'; readonly seconds: number }
  /** The runtime does not know the visitor's address. */
  | { readonly kind: 'no-client' }

interface OutcomeProps {
  readonly outcome: Outcome
  /** Whether the visitor looked up their own address. */
  readonly isOwn: boolean
  /** Stands below the place of a result, before what is known besides. */
  readonly children?: Child
}

/** Rendered both by the server and by the script in the browser. */
export function OutcomeView({ outcome, isOwn, children }: OutcomeProps) {
  switch (outcome.kind) {
    case 'located': {
      const { result, request } = outcome
      const eyebrow = isOwn ? 'Your address' : 'Looked up'
      const note = result.meta?.precision === 'none' ? unknownNote(isOwn) : undefined
      return (
        <Located eyebrow={eyebrow} result={result} note={note} request={request}>
          {children}
        </Located>
      )
    }
    case 'example': {
      const note = `You reach this server from ${outcome.own}, which no database knows, so this is another address.`
      return (
        <Located eyebrow="For example" result={outcome.result} note={note}>
          {children}
        </Located>
      )
    }
    case 'invalid':
      return (
        <LookUpError title="This is not an IP address">
          <q>{outcome.text}</q> is neither an IPv4 address, such as 81.2.69.160, nor an IPv6
          address, such as 2001:db8::1.
        </LookUpError>
      )
    case 'limited':
      return (
        <LookUpError title="Too many look-ups">
          Your network has reached the limit of this page. Try again in {outcome.seconds}{' '}
          {outcome.seconds === 1 ? 'second' : 'seconds'}.
        </LookUpError>
      )
    case 'no-client':
      return (
        <LookUpError title="Your address is unknown">Enter an address to look it up.</LookUpError>
      )
  }
}

function unknownNote(isOwn: boolean): string {
  return isOwn
    ? 'You reach this server over a private network, or no database lists your network.'
    : 'This address is private, reserved or unused, or no database lists it yet.'
}

function LookUpError({ title, children }: { readonly title: string; readonly children?: Child }) {
  return (
    <div class="look-up-error">
      <h2>{title}</h2>
      <p id="look-up-error">{children}</p>
    </div>
  )
}

/** The API request that returned a result. */
interface ApiRequest {
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
  readonly children: Child
}

/** The result of a look-up, in words and as JSON. */
function Located({ eyebrow, result, note, request, children }: LocatedProps) {
  return (
    <>
      <div>
        <p class="eyebrow">{eyebrow}</p>
        <h2 class="address">{result.query?.value}</h2>
        <p class="place">{placeOf(result) ?? 'No data for this address'}</p>
        {note !== undefined && <p class="note">{note}</p>}
      </div>
      {children}
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
    </>
  )
}
