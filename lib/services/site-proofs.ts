import { checkProof, listProofsToCheck } from '../accounts/site-proof.ts'
import { HOUR_MS, MINUTE_MS } from '../durations.ts'
import type { FindTxt } from '../net/txt-records.ts'
import { repeat } from '../periodic.ts'
import type { Base } from './base.ts'

const FIRST_MS = 5 * MINUTE_MS

/** Checks each proof of a site once a day, and again after an hour if the DNS gave no answer. */
export function openSiteProofs(
  { db, log, now }: Pick<Base, 'db' | 'log' | 'now'>,
  findTxt: FindTxt,
) {
  let isStopped = false
  const checkDue = async () => {
    const errors: unknown[] = []
    for (const site of await listProofsToCheck(db, now())) {
      const actor = { app: 'api', userId: site.userId, label: null } as const
      try {
        await checkProof(db, site, { findTxt, actor, now: now() })
      } catch (error) {
        errors.push(error)
      }
      if (isStopped) return
    }
    if (errors.length === 0) return
    const fields = { failed: errors.length, err: errors.at(-1) }
    log.warn(fields, 'cannot check proofs of sites; they stay valid')
  }
  const onError = (err: unknown) => log.error({ err }, 'cannot check proofs of sites')
  const periodic = repeat(HOUR_MS, checkDue, onError, FIRST_MS)
  return {
    findTxt,
    /** Checks the proofs that are due. */
    checkDue,
    [Symbol.dispose]: () => {
      isStopped = true
      periodic[Symbol.dispose]()
    },
  }
}
