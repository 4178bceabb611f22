import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { and, desc, eq, gt, inArray, isNotNull, isNull, lte, type SQL } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { keptAnswers } from '../db/tables.ts'
import { MINUTE_MS, SECOND_MS } from '../parts/durations.ts'
import { ApiError } from '../parts/errors.ts'
import { repeat } from '../parts/repeat.ts'
import { seal, unseal } from './sealed.ts'

/** How the copies of a request are recognised. All texts are kept only as keyed hashes. */
export interface Recognised {
  /** What the copies have in common: who sends them, their path, their id. */
  readonly id: readonly string[]
  /** Another list of this kind, for `find`. */
  readonly alias?: readonly string[]
  /** Deleting the user deletes the answer. null: no user. */
  readonly userId: string | null
  /** A request with the same id and another body is refused: it is not a copy. */
  readonly body: string
}

/** The answer to a request, and for how many milliseconds its copies get it; null: the next copy is answered anew. */
export interface Done<Answer> {
  readonly answer: Answer
  readonly ms: number | null
  /** What the new secret in the answer belongs to: once it no longer works, copies of the request are refused. */
  readonly secretOf?: SecretOf | undefined
}

/** The id of a key, or all recovery codes of the user. Triggers of the database know both. */
export type SecretOf = string | typeof RECOVERY_CODES
export const RECOVERY_CODES = 'recovery codes'

export type KeptAnswers = ReturnType<typeof createKeptAnswers>

interface Parts {
  readonly db: Db
  /** For the hashes and the encryption, in hex. */
  readonly secret: string
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Called if an answer cannot be kept. */
  readonly onError: (error: unknown) => void
}

/** How long the copies wait for a process that died while it answered. */
const LEASE_MS = 15 * SECOND_MS
/** How often they look whether another process has answered: less and less. */
const POLL_MS = { first: 50, longest: 500 }
/** Above, the answers of the user that would soon expire are no longer kept. */
const MAX_KEPT = 200
/** As it is stored. A larger answer is not kept: it shows much, such as a list, but no new secret. */
const MAX_BYTES = 32 * 1024

/**
 * Answers requests that may arrive twice, at one node or at two: the first copy has its effect, and the others wait
 * for its answer. Answers are JSON values. They are kept encrypted, since they contain cookies and new secrets.
 */
export function createKeptAnswers(parts: Parts) {
  const { db, secret, now } = parts
  const hash = (texts: readonly string[]) =>
    createHmac('sha256', secret).update(JSON.stringify(texts)).digest('base64url')
  const removeExpired = everyMinute(now, () =>
    db.delete(keptAnswers).where(lte(keptAnswers.expiresAt, now())).run(),
  )
  /** What this process answers now, by id. */
  const running = new Map<string, Running>()
  const answer = async <Answer>(
    attempt: Attempt,
    act: () => Promise<Done<Answer>>,
  ): Promise<Answer> => {
    await removeExpired()
    for (;;) {
      if (await claim(parts, attempt)) return run(parts, attempt, act)
      const kept = await waitFor<Answer>(parts, eq(keptAnswers.id, attempt.id), attempt.body)
      if (kept !== null) return kept.answer
    }
  }
  return {
    /**
     * Returns what `act` answers, or the answer to the first copy of the request. If `act` throws, later copies
     * are answered anew. Throws IDEMPOTENCY_KEY_REUSED if the first one had another body.
     */
    answerOnce: async <Answer>(
      { id: texts, alias, userId, body }: Recognised,
      act: () => Promise<Done<Answer>>,
    ): Promise<Answer> => {
      const hashes = { id: hash(texts), alias: alias === undefined ? null : hash(alias) }
      const attempt = { ...hashes, userId, body: hash([body]), claim: crypto.randomUUID() }
      const first = running.get(attempt.id)
      if (first !== undefined) {
        refuseOther(first, attempt.body)
        // safe: it answers a request of the same kind
        return (await first.answer) as Answer
      }
      const own = answer(attempt, act)
      running.set(attempt.id, { body: attempt.body, answer: own })
      try {
        return await own
      } finally {
        running.delete(attempt.id)
      }
    },
    /** The answer to the request with this alias; null if there is none. */
    find: async <Answer>(alias: readonly string[], body: string): Promise<Answer | null> => {
      const where = eq(keptAnswers.alias, hash(alias))
      return (await waitFor<Answer>(parts, where, hash([body])))?.answer ?? null
    },
  }
}

interface Running extends Pick<Attempt, 'body'> {
  readonly answer: Promise<unknown>
}

/** Keeps a flood of requests from filling the database before the hourly clean-up. */
function everyMinute(now: () => number, work: () => Promise<unknown>): () => Promise<void> {
  let next = 0
  return async () => {
    if (now() < next) return
    next = now() + MINUTE_MS
    await work()
  }
}

/** Makes room for another answer to the user: else requests without number would fill the database. */
async function removeSurplus(db: Db, userId: string): Promise<void> {
  const surplus = await db
    .select({ id: keptAnswers.id })
    .from(keptAnswers)
    .where(and(eq(keptAnswers.userId, userId), isNotNull(keptAnswers.answer)))
    .orderBy(desc(keptAnswers.expiresAt))
    .limit(MAX_KEPT)
    .offset(MAX_KEPT - 1)
    .all()
  if (surplus.length === 0) return
  const ids = surplus.map(({ id }) => id)
  await db.delete(keptAnswers).where(inArray(keptAnswers.id, ids)).run()
}

/** An attempt to answer a request. The id, the alias and the body are hashes. */
interface Attempt {
  readonly id: string
  readonly alias: string | null
  readonly userId: string | null
  readonly body: string
  readonly claim: string
}

/** Returns whether this attempt answers the request: no other one is under way, or has left an answer. */
async function claim({ db, now }: Parts, attempt: Attempt): Promise<boolean> {
  const row = { ...attempt, answer: null, expiresAt: now() + LEASE_MS }
  const { changes } = await db
    .insert(keptAnswers)
    .values(row)
    .onConflictDoUpdate({
      target: keptAnswers.id,
      set: row,
      setWhere: lte(keptAnswers.expiresAt, now()),
    })
    .run()
  return changes > 0
}

interface Kept {
  readonly answer: string
  readonly expiresAt: number
  readonly secretOf: SecretOf | null
}

/** Answers the request, and keeps the lease meanwhile. */
async function run<Answer>(
  parts: Parts,
  attempt: Attempt,
  act: () => Promise<Done<Answer>>,
): Promise<Answer> {
  const { db, now, onError } = parts
  const isOwn = and(eq(keptAnswers.id, attempt.id), eq(keptAnswers.claim, attempt.claim))
  const isOpen = and(isOwn, isNull(keptAnswers.answer))
  const change = (to: Partial<Kept> & Pick<Kept, 'expiresAt'>) =>
    db.update(keptAnswers).set(to).where(isOpen).run()
  const keep = async (to: Kept) => {
    const { changes } = await change(to)
    // The request has deleted the account, and the row with it. Or another attempt has taken the row.
    const row = { ...attempt, ...to, userId: null }
    if (changes === 0) await db.insert(keptAnswers).values(row).onConflictDoNothing().run()
  }
  const settle = async ({ answer, ms, secretOf }: Done<Answer | null>) => {
    const sealed = ms === null ? null : await close(parts, attempt, answer)
    if (ms === null || sealed === null) await db.delete(keptAnswers).where(isOwn).run()
    else await keep({ answer: sealed, expiresAt: now() + ms, secretOf: secretOf ?? null })
  }
  const lease = repeat(LEASE_MS / 3, () => change({ expiresAt: now() + LEASE_MS }), onError)
  let done: Done<Answer | null> = { answer: null, ms: null }
  try {
    if (attempt.userId !== null) await removeSurplus(db, attempt.userId)
    const acted = await act()
    done = acted
    return acted.answer
  } finally {
    lease[Symbol.dispose]()
    // The effect cannot be undone, so the caller gets the answer even if keeping it fails.
    await settle(done).catch(onError)
  }
}

/** Waits while the request is being answered. Returns the answer; null if none was kept. */
async function waitFor<Answer>(
  parts: Parts,
  where: SQL,
  body: string,
): Promise<{ readonly answer: Answer } | null> {
  const { db, now } = parts
  for (let pause = POLL_MS.first; ; pause = Math.min(2 * pause, POLL_MS.longest)) {
    const isCurrent = and(where, gt(keptAnswers.expiresAt, now()))
    const row = await db.select().from(keptAnswers).where(isCurrent).get()
    if (row === undefined) return null
    refuseOther(row, body)
    if (row.answer === '') throw new ApiError('IDEMPOTENCY_KEY_REUSED', REVOKED)
    // safe: `close` wrote it, for a request of the same kind
    if (row.answer !== null) return { answer: (await open(parts, row, row.answer)) as Answer }
    await sleep(pause)
  }
}

function refuseOther(first: Pick<Attempt, 'body'>, body: string): void {
  if (first.body !== body) throw new ApiError('IDEMPOTENCY_KEY_REUSED', REUSED)
}

/** Triggers of the database empty the answer. The request must not make another secret. */
const REVOKED = 'What this request made no longer works; for another one, send a new request'
const REUSED = 'Idempotency-Key: was used for a request with another body'

type Keyed = Pick<Attempt, 'id'>

/** Encrypts an answer for one row; null if it is too large. */
async function close({ secret }: Parts, { id }: Keyed, answer: unknown): Promise<string | null> {
  const sealed = await seal(secret, await deflate(JSON.stringify({ id, answer })))
  return sealed.length > MAX_BYTES ? null : sealed
}

/** Throws if the text was not encrypted for this row. */
async function open({ secret }: Parts, { id }: Keyed, sealed: string): Promise<unknown> {
  const text = String(await inflate(await unseal(secret, sealed)))
  const kept: { readonly id: string; readonly answer: unknown } = JSON.parse(text)
  if (kept.id !== id) throw new Error('A kept answer belongs to another request')
  return kept.answer
}

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)
