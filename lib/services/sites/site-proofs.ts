import type { KeyRing } from '../../access/key-ring/key-ring.ts'
import { checkProof, listProofsToCheck } from '../../accounts/site-proof.ts'
import { HOUR_MS, MINUTE_MS } from '../../parts/durations.ts'
import type { FindTxt } from '../../parts/net/txt-records.ts'
import { repeat } from '../../parts/repeat.ts'
import type { Foundation } from '../foundation.ts'

const FIRST_MS = 5 * MINUTE_MS

type SiteProofParts = Pick<Foundation, 'storage' | 'db' | 'log' | 'now'> & {
  readonly keys: Pick<KeyRing, 'changeBy'>
}

/** Checks each proof of a site once a day, and again after an hour if the DNS gave no answer. */
export function openSiteProofs({ storage, db, log, now, keys }: SiteProofParts, findTxt: FindTxt) {
  const stopping = new AbortController()
  const checkDue = async (signal = stopping.signal) => {
    const errors: unknown[] = []
    for (const site of await listProofsToCheck(db, now())) {
      const actor = { app: 'api', userId: site.userId, label: null } as const
      try {
        const check = { findTxt, actor, now: now() }
        await keys.changeBy(() => checkProof(db, site, check))
      } catch (error) {
        errors.push(error)
      }
      if (signal.aborted) return
    }
    if (errors.length === 0) return
    const fields = { failed: errors.length, err: errors.at(-1) }
    log.warn(fields, 'cannot check proofs of sites; they stay valid')
  }
  const checkAlone = () =>
    storage.leases.runAlone(
      'proofs of sites',
      (signal) => checkDue(AbortSignal.any([stopping.signal, signal])),
      { restMs: HOUR_MS },
    )
  const onError = (err: unknown) => log.error({ err }, 'cannot check proofs of sites')
  const periodic = repeat(HOUR_MS, checkAlone, onError, FIRST_MS)
  return {
    findTxt,
    /** Checks the proofs that are due. */
    checkDue: () => checkDue(),
    [Symbol.dispose]: () => {
      stopping.abort()
      periodic[Symbol.dispose]()
    },
  }
}
