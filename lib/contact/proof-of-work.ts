import { createChallenge, randomInt, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import * as v from 'valibot'
import { ContactChallenge } from '../contract/contact.ts'
import type { Db } from '../db/open.ts'
import { spendChallenge } from './spent-challenges.ts'

/** A bot check of our own: a challenge takes a client about a second of work, and us none. */
export interface ProofOfWork {
  issue(now: number): Promise<ContactChallenge>
  /** Whether `answer` solves a challenge of ours that has not ended. It is good once. */
  check(answer: string, now: number): Promise<boolean>
}

export interface ProofOfWorkOptions {
  readonly db: Db
  /** Signs challenges. */
  readonly secret: string
  /** Signs what solves them. */
  readonly keySecret: string
}

const ALGORITHM = 'PBKDF2/SHA-256'
/** Rounds of each try. */
const COST = 5_000
/** Tries until the right one. Together about a second on a phone; docs/contact.md tells figures. */
const TRIES = { least: 500, most: 1_500 }
const LIFETIME_MS = 20 * 60 * 1000

/** What the ALTCHA widget sends, in base64: the challenge as it was, and the solution. */
const Answer = v.object({
  challenge: ContactChallenge,
  solution: v.object({ counter: v.number(), derivedKey: v.string() }),
})

/** Challenges in the format of ALTCHA, version 2. Those used are stored, so no restart frees one. */
export function createProofOfWork({ db, secret, keySecret }: ProofOfWorkOptions): ProofOfWork {
  const secrets = { hmacSignatureSecret: secret, hmacKeySignatureSecret: keySecret }
  return {
    issue: async (now) => {
      const challenge = await createChallenge({
        algorithm: ALGORITHM,
        cost: COST,
        counter: randomInt(TRIES.most, TRIES.least),
        deriveKey,
        expiresAt: Math.floor((now + LIFETIME_MS) / 1000),
        ...secrets,
      })
      return v.parse(ContactChallenge, challenge)
    },
    check: async (answer, now) => {
      const given = readAnswer(answer)
      if (given === null) return false
      const { signature, parameters } = given.challenge
      const expiresAt = parameters.expiresAt * 1000
      if (expiresAt <= now) return false
      const { verified } = await verifySolution({ ...given, deriveKey, ...secrets })
      // The signature is the same however the rest is written.
      return verified && spendChallenge(db, signature, expiresAt)
    },
  }
}

function readAnswer(text: string): v.InferOutput<typeof Answer> | null {
  try {
    return v.parse(Answer, JSON.parse(atob(text)))
  } catch {
    return null
  }
}
