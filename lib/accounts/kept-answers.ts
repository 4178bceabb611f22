import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { and, eq, gt, isNull, lte, type SQL } from '../db/drizzle.ts'
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
  /** With another body under the same id, a request is no copy. */
  readonly body: string
}

/** What came of a request. `ms`: how long its copies get the same answer; null: the next one is answered anew. */
export interface Done<Answer> {
  readonly answer: Answer
  readonly ms: number | null
}

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
const POLL_MS = 50
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
  return {
    /**
     * Returns what `act` answers, or the answer to the first copy of the request. If `act` throws, the next copy
     * is answered anew. Throws IDEMPOTENCY_KEY_REUSED if the first one had another body.
     */
    answerOnce: async <Answer>(
      { id, alias, body }: Recognised,
      act: () => Promise<Done<Answer>>,
    ): Promise<Answer> => {
      const row = { id: hash(id), alias: alias === undefined ? null : hash(alias) }
      await removeExpired()
      for (;;) {
        const attempt = { ...row, body: hash([body]), claim: crypto.randomUUID() }
        if (await claim(parts, attempt)) return run(parts, attempt, act)
        const kept = await waitFor<Answer>(parts, eq(keptAnswers.id, row.id), attempt.body)
        if (kept !== null) return kept.answer
      }
    },
    /** The answer to the request with this alias; null if there is none. */
    find: async <Answer>(alias: readonly string[], body: string): Promise<Answer | null> => {
      const where = eq(keptAnswers.alias, hash(alias))
      return (await waitFor<Answer>(parts, where, hash([body])))?.answer ?? null
    },
  }
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

/** An attempt to answer a request. All but the claim are hashes. */
interface Attempt {
  readonly id: string
  readonly alias: string | null
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

/** Answers the request, and keeps the lease meanwhile. */
async function run<Answer>(
  parts: Parts,
  attempt: Attempt,
  act: () => Promise<Done<Answer>>,
): Promise<Answer> {
  const { db, now, onError } = parts
  const isOwn = and(eq(keptAnswers.id, attempt.id), eq(keptAnswers.claim, attempt.claim))
  const isOpen = and(isOwn, isNull(keptAnswers.answer))
  const change = (to: { readonly answer?: string; readonly expiresAt: number }) =>
    db.update(keptAnswers).set(to).where(isOpen).run()
  const settle = async ({ answer, ms }: Done<Answer | null>) => {
    const sealed = ms === null ? null : await close(parts, attempt, answer)
    if (ms === null || sealed === null) await db.delete(keptAnswers).where(isOwn).run()
    else await change({ answer: sealed, expiresAt: now() + ms })
  }
  const lease = repeat(LEASE_MS / 3, () => change({ expiresAt: now() + LEASE_MS }), onError)
  let done: Done<Answer | null> = { answer: null, ms: null }
  try {
    const { answer, ms } = await act()
    done = { answer, ms }
    return answer
  } finally {
    lease[Symbol.dispose]()
    // What was done cannot be undone, so the caller gets the answer even if it cannot be kept.
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
  for (;;) {
    const isCurrent = and(where, gt(keptAnswers.expiresAt, now()))
    const row = await db.select().from(keptAnswers).where(isCurrent).get()
    if (row === undefined) return null
    if (row.body !== body) throw new ApiError('IDEMPOTENCY_KEY_REUSED', REUSED)
    // safe: `close` wrote it, for a request of the same kind
    if (row.answer !== null) return { answer: (await open(parts, row, row.answer)) as Answer }
    await sleep(POLL_MS)
  }
}

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
