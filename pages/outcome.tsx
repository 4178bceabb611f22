import type { GeolocationResult } from '../lib/contract/geolocation.ts'
import { Located } from './located.tsx'

/** What became of a look-up on the page. */
export type Outcome =
  | { readonly kind: 'located'; readonly result: GeolocationResult; readonly request?: AskedApi }
  | { readonly kind: 'invalid'; readonly text: string }
  | { readonly kind: 'limited'; readonly seconds: number }
  /** The runtime does not tell where the visitor comes from. */
  | { readonly kind: 'no-client' }

/** The request to the API that brought the answer. */
export interface AskedApi {
  readonly path: string
  readonly status: number
  readonly ms: number
}

interface OutcomeProps {
  readonly outcome: Outcome
  /** Whether it is the visitor's own address. */
  readonly isOwn: boolean
}

/** Shown by the server, and by the script of the page in the browser alike. */
export function OutcomeView({ outcome, isOwn }: OutcomeProps) {
  switch (outcome.kind) {
    case 'located':
      return <Located result={outcome.result} request={outcome.request} isOwn={isOwn} />
    case 'invalid':
      return (
        <Trouble title="That is no IP address">
          <q>{outcome.text}</q> is neither an IPv4 address, such as 81.2.69.160, nor an IPv6
          address, such as 2001:db8::1.
        </Trouble>
      )
    case 'limited':
      return (
        <Trouble title="Too many look-ups">
          From your network there were more than this page answers in a minute. It goes on in{' '}
          {outcome.seconds} {outcome.seconds === 1 ? 'second' : 'seconds'}.
        </Trouble>
      )
    case 'no-client':
      return <Trouble title="Your address is not known">Type one to look it up.</Trouble>
  }
}

function Trouble({ title, children }: { readonly title: string; readonly children?: unknown }) {
  return (
    <div class="trouble">
      <h2>{title}</h2>
      <p id="trouble">{children}</p>
    </div>
  )
}
