import { createChallenge, randomInt, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import * as v from 'valibot'
import { ContactChallenge } from '../contract/contact.ts'
import { spentChallenges } from '../db/contact-tables.ts'
import { eq } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/transaction.ts'
import { MINUTE_MS } from '../parts/durations.ts'

interface ProofOfWorkOptions {
  readonly db: Db
  /** Signs challenges. */
  readonly secret: string
  /** Signs the solutions of challenges. */
  readonly keySecret: string
}

const ALGORITHM = 'PBKDF2/SHA-256'
/** Iterations of each attempt. */
const COST = 5_000
/** Attempts that a client needs: docs/contact.md says how long they take. */
const TRIES = { min: 500, max: 1_500 }
const LIFETIME_MS = 20 * MINUTE_MS

/** The JSON that the ALTCHA widget sends in base64: the unchanged challenge and its solution. */
const Answer = v.object({
  challenge: ContactChallenge,
  solution: v.object({ counter: v.number(), derivedKey: v.string() }),
})

/**
 * Our own bot check, in the ALTCHA format, version 2: solving a challenge takes a client about a second,
 * checking it almost nothing. Used challenges are stored, so a restart does not make them valid again.
 */
export function createProofOfWork({ db, secret, keySecret }: ProofOfWorkOptions) {
  const secrets = { hmacSignatureSecret: secret, hmacKeySignatureSecret: keySecret }
  return {
    issue: async (now: number): Promise<ContactChallenge> => {
      const challenge = await createChallenge({
        algorithm: ALGORITHM,
        cost: COST,
        counter: randomInt(TRIES.max, TRIES.min),
        deriveKey,
        expiresAt: Math.floor((now + LIFETIME_MS) / 1000),
        ...secrets,
      })
      return v.parse(ContactChallenge, challenge)
    },
    /** Whether `answer` solves one of our challenges that is neither expired nor used. */
    check: async (answer: string, now: number): Promise<boolean> => {
      const given = readAnswer(answer)
      if (given === null) return false
      const { signature, expiresAt } = toSpent(given)
      if (expiresAt <= now) return false
      const { verified } = await verifySolution({ ...given, deriveKey, ...secrets })
      const isSame = eq(spentChallenges.signature, signature)
      if (!verified) return false
      return (await db.select().from(spentChallenges).where(isSame).get()) === undefined
    },
    /** Uses up the challenge of a checked answer. Changes nothing if it is already used. */
    use: (answer: string): Statement => {
      const given = readAnswer(answer)
      if (given === null) throw new Error('the answer was not checked')
      return db.insert(spentChallenges).values(toSpent(given)).onConflictDoNothing()
    },
  }
}

/** Only the signature identifies a challenge: the other fields have several valid spellings. */
function toSpent({ challenge: { signature, parameters } }: v.InferOutput<typeof Answer>) {
  return { signature, expiresAt: parameters.expiresAt * 1000 }
}

function readAnswer(text: string): v.InferOutput<typeof Answer> | null {
  try {
    return v.parse(Answer, JSON.parse(atob(text)))
  } catch {
    return null
  }
}
