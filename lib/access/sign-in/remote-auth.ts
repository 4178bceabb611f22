import * as v from 'valibot'
import { BoundedCache } from '../../parts/bounded-cache.ts'
import { MINUTE_MS } from '../../parts/durations.ts'
import { EmailAddress } from '../../parts/email-address.ts'
import { ApiError } from '../../parts/errors.ts'
import { readJson } from '../../parts/parse.ts'
import { fetchReasonOf } from '../../parts/reason.ts'
import type { FindSession, SessionUser } from '../find-session.ts'
import { decodeToken, hashToken, TOKEN } from '../session-token.ts'
import type { RemoteSession } from '../sessions.ts'

/** Also without the segments of paths that browsers resolve. */
const ID = /^(?!\.{1,2}$)[\w.:|@~+=-]{1,100}$/

/** A user of the auth service. */
const RemoteUser = v.object({
  id: v.pipe(v.string(), v.regex(ID)),
  name: v.nullish(v.string(), null),
  email: EmailAddress,
  emailVerified: v.boolean(),
})
export type RemoteUser = v.InferOutput<typeof RemoteUser>

const Session = v.object({
  session: v.object({
    expiresAt: v.pipe(
      v.string(),
      v.isoTimestamp(),
      v.transform((text) => Date.parse(text)),
    ),
  }),
  user: RemoteUser,
})

export interface RemoteAuthOptions {
  /** Address of the auth service, without a slash at the end. */
  readonly url: string
  /** Returns the id of our user for a user of the service. Adds our user if it is missing. */
  readonly adopt: (user: RemoteUser, now: number) => Promise<string>
  /** Called with each session that the service confirms, at most once a minute. */
  readonly onSession: (session: RemoteSession, now: number) => Promise<void>
  readonly findUser: (id: string) => Promise<SessionUser | null>
  /** Called with the reason when the auth service gives no valid answer. */
  readonly onFailure: (reason: string) => void
  readonly timeoutMs?: number
}

/** A session token, and the client that sent it. */
interface Presented {
  readonly token: string
  /** Address of the client; undefined if the runtime does not report it. */
  readonly client: string | undefined
}

interface CachedSession {
  readonly userId: string
  /** Epoch milliseconds. After that, we ask the service again. */
  readonly until: number
}

const CACHED_SESSIONS = 10_000
const CACHE_MS = MINUTE_MS
const TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 64 * 1024

/**
 * Finds sessions by asking a remote better-auth: `GET /api/auth/get-session`. It answers 200 with
 * `null` for an invalid token. Any other answer is a failure of the service and signs nobody out. A
 * session is cached for at most a minute, so a sign-out takes effect within a minute.
 */
export function createFindRemoteSession(options: RemoteAuthOptions): FindSession {
  const cache = new BoundedCache<string, CachedSession>(CACHED_SESSIONS)
  const pending = new Map<string, Promise<CachedSession | null>>()

  const ask = async (presented: Presented, hash: string, now: number) => {
    const answer = await askService(options, presented)
    if (answer === null || answer.session.expiresAt <= now) return null
    const userId = await options.adopt(answer.user, now)
    const { expiresAt } = answer.session
    await options.onSession({ userId, token: presented.token, expiresAt }, now)
    const cached = { userId, until: Math.min(now + CACHE_MS, expiresAt) }
    cache.set(hash, cached)
    return cached
  }
  const askOnce = (presented: Presented, now: number) => {
    const hash = hashToken(presented.token)
    const cached = cache.get(hash)
    if (cached !== undefined && isFresh(cached, now)) return cached
    const running = pending.get(hash)
    if (running !== undefined) return running
    const started = ask(presented, hash, now).finally(() => pending.delete(hash))
    pending.set(hash, started)
    return started
  }
  return async (text, now, client) => {
    const token = decodeToken(text)
    if (!TOKEN.test(token)) return null
    const session = await askOnce({ token, client }, now)
    return session === null ? null : options.findUser(session.userId)
  }
}

/** A cached session lasts at most a minute, even if the clock is set back meanwhile. */
function isFresh({ until }: CachedSession, now: number): boolean {
  return now < until && until <= now + CACHE_MS
}

async function askService(options: RemoteAuthOptions, presented: Presented) {
  try {
    const answer = await fetchSession(options, presented)
    return answer === null ? null : readSession(answer)
  } catch (error) {
    options.onFailure(fetchReasonOf(error))
    throw new ApiError('AUTH_UNAVAILABLE', 'Sessions cannot be checked now; try again later')
  }
}

/** The answer holds the token and the user, so no error may quote it. */
function readSession(answer: unknown) {
  const result = v.safeParse(Session, answer, { abortEarly: true })
  if (result.success) return result.output
  throw new Error(`its answer is not a session: ${v.getDotPath(result.issues[0]) ?? 'all of it'}`)
}

async function fetchSession(
  { url, timeoutMs = TIMEOUT_MS }: RemoteAuthOptions,
  { token, client }: Presented,
) {
  // Only visits of the user to the service may extend the session.
  const response = await fetch(`${url}/api/auth/get-session?disableRefresh=true`, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      // Otherwise better-auth counts all clients as one, and bad tokens of one lock everybody out.
      ...(client !== undefined && { 'x-forwarded-for': client }),
    },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`it answered ${response.status}`)
  }
  return readJson(response, MAX_ANSWER_BYTES)
}
