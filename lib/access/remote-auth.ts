import * as v from 'valibot'
import { BoundedCache } from '../bounded-cache.ts'
import { ApiError } from '../errors.ts'
import { readJson } from '../parse.ts'
import { decodeToken, type FindSession, hashToken, type SessionUser, TOKEN } from './session.ts'

/** A user as the auth service knows them. */
const RemoteUser = v.object({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  name: v.nullish(v.string(), null),
  email: v.pipe(v.string(), v.minLength(1), v.maxLength(320)),
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
  /** Returns the id of our user for theirs, who is added if new. */
  readonly adopt: (user: RemoteUser, now: number) => Promise<string>
  readonly findUser: (id: string) => Promise<SessionUser | null>
  /** Told why the auth service could not be asked. */
  readonly onTrouble: (reason: string) => void
  readonly timeoutMs?: number
}

interface Known {
  readonly userId: string
  /** Epoch milliseconds from which the service has to be asked again. */
  readonly until: number
}

const REMEMBERED_SESSIONS = 10_000
const REMEMBER_MS = 60_000
const TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 64 * 1024

/**
 * Finds sessions by asking a remote better-auth: `GET /api/auth/get-session`. It answers 200 with
 * `null` for a token that is not good; any other trouble is its own, so that nobody is signed out
 * by it. A good answer is remembered for at most a minute, so a sign-out takes that long to be met.
 */
export function createFindRemoteSession(options: RemoteAuthOptions): FindSession {
  const remembered = new BoundedCache<string, Known>(REMEMBERED_SESSIONS)
  const asking = new Map<string, Promise<Known | null>>()

  const ask = async (token: string, hash: string, now: number) => {
    const session = await askService(options, token)
    if (session === null || session.expiresAt <= now) return null
    const userId = await options.adopt(session.user, now)
    const known = { userId, until: Math.min(now + REMEMBER_MS, session.expiresAt) }
    remembered.set(hash, known)
    return known
  }
  const askOnce = (token: string, now: number) => {
    const hash = hashToken(token)
    const known = remembered.get(hash)
    if (known !== undefined && isFresh(known, now)) return known
    const running = asking.get(hash)
    if (running !== undefined) return running
    const started = ask(token, hash, now).finally(() => asking.delete(hash))
    asking.set(hash, started)
    return started
  }
  return async (text, now) => {
    const token = decodeToken(text)
    if (!TOKEN.test(token)) return null
    const known = await askOnce(token, now)
    return known === null ? null : options.findUser(known.userId)
  }
}

/** Nothing is remembered for longer than a minute, also where the clock was set back since. */
function isFresh({ until }: Known, now: number): boolean {
  return now < until && until <= now + REMEMBER_MS
}

interface RemoteSession {
  readonly user: RemoteUser
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

async function askService(
  options: RemoteAuthOptions,
  token: string,
): Promise<RemoteSession | null> {
  try {
    const answer = await fetchSession(options, token)
    return answer === null ? null : readSession(answer)
  } catch (error) {
    options.onTrouble(reasonOf(error))
    throw new ApiError('AUTH_UNAVAILABLE', 'Sessions cannot be checked now; try again later')
  }
}

/** An answer holds the token and the user: no error may show it. */
function readSession(answer: unknown): RemoteSession {
  const result = v.safeParse(Session, answer, { abortEarly: true })
  if (result.success) {
    const { session, user } = result.output
    return { user, expiresAt: session.expiresAt }
  }
  throw new Error(`its answer is no session: ${v.getDotPath(result.issues[0]) ?? 'all of it'}`)
}

/** `fetch` hides in a cause what went wrong. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

async function fetchSession({ url, timeoutMs = TIMEOUT_MS }: RemoteAuthOptions, token: string) {
  // A mere question must not extend the session, which its owner's visits to the service do.
  const response = await fetch(`${url}/api/auth/get-session?disableRefresh=true`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`it answered ${response.status}`)
  }
  return readJson(response, MAX_ANSWER_BYTES)
}
