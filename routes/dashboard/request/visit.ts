import type { Context } from 'hono'
import type { UserProfile } from '../../../lib/contract/account/account-schemas.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Instance } from '../../../pages/layout.tsx'
import type { Env } from '../../context.ts'
import type { PageAnswer } from '../../pages/page.ts'
import type { Exchange } from '../../request/exchange.ts'
import type { CallApi } from './call-api.ts'
import type { Session } from './session.ts'

/** A visit by anyone, signed in or not. */
export interface Visit {
  readonly services: Services
  readonly c: Context<Env>
  readonly instance: Instance
  /** The request for the page itself, as the log records it. */
  readonly exchange: Exchange
  /** The unverified token in the cookie; null if there is none. */
  readonly token: string | null
}

/** A visit by a signed-in user. */
export interface UserVisit extends Visit {
  readonly token: string
  readonly session: Session
  readonly callApi: CallApi
  readonly me: UserProfile
  /** Whether the user has the role `operator`. */
  readonly isOperator: boolean
}

/** A path of the dashboard in Hono syntax, and its handler. */
export interface AppRoute<Kind extends Visit> {
  readonly method: 'get' | 'post'
  readonly path: `/app${string}`
  readonly answer: (visit: Kind) => Promise<PageAnswer>
  /** Of a form; by default as of any request. */
  readonly maxBytes?: number
  /** Whether a second copy of the form is answered anew, since it changes nothing more. */
  readonly isRepeatable?: true
  /**
   * Whether mail programs post to it, too (RFC 8058). What it may do is decided by the secret in its link, not by a
   * cookie, so forms of other sites are not rejected.
   */
  readonly isOneClick?: true
}
