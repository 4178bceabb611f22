import type { Context } from 'hono'
import type { UserProfile } from '../../lib/contract/account-schemas.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Instance } from '../../pages/layout.tsx'
import type { Env } from '../context.ts'
import type { FileAnswer, PageAnswer } from '../page.ts'
import type { Ask } from './ask.ts'
import type { SendApi } from './send-api.ts'

/** A visit of anybody. */
export interface GuestVisit {
  readonly services: Services
  readonly c: Context<Env>
  readonly instance: Instance
  readonly sendApi: SendApi
  /** The token in the cookie, good or not; null: none. */
  readonly token: string | null
}

/** A visit of a user who is signed in. */
export interface UserVisit extends GuestVisit {
  readonly token: string
  readonly ask: Ask
  readonly me: UserProfile
}

/** What answers a path of the dashboard, as Hono knows it. A post is refused from other sites. */
export interface AppRoute<Visit> {
  readonly method: 'get' | 'post'
  readonly path: `/app${string}`
  readonly answer: (visit: Visit) => Promise<Answer>
}

export type Answer = PageAnswer | FileAnswer
