import { SECOND_MS } from '../../parts/durations.ts'
import { withTimeout } from '../../parts/with-timeout.ts'
import type { BucketStrategy } from './local-buckets.ts'
import {
  addGrant,
  type BucketStore,
  isLow,
  lacksTokens,
  newSharedBucket,
  payDebt,
  peekShared,
  refundShared,
  type SharedBucket,
  takeFromOwnShare,
  takeShared,
  toAsk,
} from './shared-bucket.ts'
import type { Bucket, Rate } from './token-bucket.ts'

/** The most buckets in one question to the store. */
const AT_ONCE = 500
/** How long requests wait for an answer. */
const ANSWER_MS = SECOND_MS
/** How long to wait before asking again after the store did not answer. */
const AWAY_MS = SECOND_MS

interface Question {
  rate: Rate
  need: number
  readonly answered: PromiseWithResolvers<void>
}

/**
 * Buckets that all nodes share. A node answers from requests that the store has granted to it, and asks for
 * more in the background. While the store is away, the node uses an equal share of each bucket.
 */
export function createSharedBuckets(store: BucketStore): BucketStrategy {
  const questions = createQuestions(store)
  return {
    isShared: true,
    open: (id, now) => newSharedBucket(id, now),
    take: (given, rate, now, requests) => {
      const bucket = shared(given)
      if (questions.isAway()) {
        questions.retry(bucket, rate)
        return takeFromOwnShare(bucket, rate, { now, requests, nodes: store.countNodes() })
      }
      const state = takeShared(bucket, rate, now, requests)
      if (state?.allowed === true && isLow(bucket, rate, now)) questions.askSoon(bucket, rate)
      return state
    },
    peek: (bucket, rate, now, requests) => peekShared(shared(bucket), rate, now, requests),
    refund: (bucket, now, requests) => refundShared(shared(bucket), now, requests),
    mustAsk: (bucket, rate, now, requests) =>
      !questions.isAway() && lacksTokens(shared(bucket), rate, now, requests),
    ask: (bucket, rate, need) => questions.ask(shared(bucket), rate, need),
    finish: questions.finish,
    usedAt: (bucket) => shared(bucket).usedAt,
  }
}

function shared(bucket: Bucket): SharedBucket {
  // safe: `open` makes all buckets
  return bucket as SharedBucket
}

/** Asks the store one question at a time, about all buckets that are waiting. */
function createQuestions(store: BucketStore) {
  let waiting = new Map<SharedBucket, Question>()
  let asked: ReadonlyMap<SharedBucket, Question> = new Map()
  let isAsking = false
  /** Whether to ask about what is waiting at once, rather than to gather more. */
  let isDue = false
  let gathering: ReturnType<typeof setTimeout> | undefined
  /** When to ask again, by the monotonic clock; null: the store has answered the last question. */
  let retryAt: number | null = null

  const askNext = async () => {
    // All nodes ask in the same order, so that they cannot deadlock.
    const all = [...waiting].sort(([a], [b]) => (a.id < b.id ? -1 : 1))
    waiting = new Map(all.slice(AT_ONCE))
    isDue = waiting.size > 0
    asked = new Map(all.slice(0, AT_ONCE))
    retryAt = (await askStore(store, asked)) ? null : performance.now() + AWAY_MS
    for (const { answered } of asked.values()) answered.resolve()
    asked = new Map()
  }
  const begin = () => {
    clearTimeout(gathering)
    gathering = undefined
    isDue = waiting.size > 0
    if (isAsking || !isDue) return
    isAsking = true
    setImmediate(async () => {
      while (isDue) await askNext()
      isAsking = false
    })
  }
  /** Asks about the bucket. Resolves once the store has answered, or has failed to answer in time. */
  const ask = (bucket: SharedBucket, rate: Rate, need: number): Promise<void> => {
    const question = asked.get(bucket) ?? addQuestion(waiting, bucket, rate, need)
    begin()
    return question.answered.promise
  }
  const askSoon = (bucket: SharedBucket, rate: Rate): void => {
    if (asked.has(bucket) || waiting.has(bucket)) return
    addQuestion(waiting, bucket, rate, 0)
    if (store.gatherMs === undefined) begin()
    else gathering ??= setTimeout(begin, store.gatherMs)
  }
  return {
    ask,
    /** Asks in the background. */
    askSoon,
    /** Asks now about all buckets that are waiting. Resolves once the store has answered, or has failed to. */
    finish: async (): Promise<void> => {
      begin()
      await allAnswered([...asked.values(), ...waiting.values()])
    },
    /** Whether the store failed to answer the last question. */
    isAway: () => retryAt !== null,
    /** Asks a store that is away again, if it is time. */
    retry: (bucket: SharedBucket, rate: Rate): void => {
      if (retryAt !== null && performance.now() > retryAt && !isAsking) void ask(bucket, rate, 0)
    },
  }
}

async function allAnswered(questions: readonly Question[]): Promise<void> {
  await Promise.all(questions.map(({ answered }) => answered.promise))
}

function addQuestion(
  waiting: Map<SharedBucket, Question>,
  bucket: SharedBucket,
  rate: Rate,
  need: number,
): Question {
  const question = waiting.get(bucket) ?? { rate, need: 0, answered: Promise.withResolvers() }
  question.rate = rate
  question.need += need
  waiting.set(bucket, question)
  return question
}

/**
 * Asks the store, and adds its grants to the buckets. Returns whether it has answered in time. A late answer only
 * settles what was already answered: part of its grant has refilled meanwhile.
 */
async function askStore(store: BucketStore, asked: ReadonlyMap<SharedBucket, Question>) {
  const asks = [...asked].map(([bucket, { rate, need }]) => ({
    bucket,
    ask: toAsk(bucket, rate, store.now(), need),
  }))
  try {
    const answer = store.charge(asks.map(({ ask }) => ask))
    const grants = await withTimeout(answer, ANSWER_MS, () => null)
    if (grants === null) {
      const payDebts = () => {
        for (const { bucket, ask } of asks) payDebt(bucket, ask, store.now())
      }
      answer.then(payDebts, () => {})
      return false
    }
    const at = { now: store.now(), nodes: store.countNodes() }
    for (const [place, { bucket, ask }] of asks.entries()) {
      const grant = grants[place]
      if (grant !== undefined) addGrant(bucket, ask, grant, at)
    }
    return true
  } catch {
    return false
  }
}
