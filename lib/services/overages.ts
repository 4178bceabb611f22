import type { Billing } from '../billing/billing.ts'
import { createOverages, type Overages } from '../billing/overages.ts'
import type { Flusher } from '../db/flusher.ts'
import { repeat } from '../periodic.ts'
import type { Base } from './base.ts'

interface Needed {
  readonly billing: Billing
  readonly flusher: Flusher
}

const LOOK_MS = 10_000
const CLEANUP_MS = 60 * 60 * 1000

/** Reports requests over the cap, where there is somebody to report to. */
export function openOverages(
  { config, log, now }: Base,
  { billing, flusher }: Needed,
  opening: DisposableStack,
): Overages {
  const overages = createOverages({
    billing,
    flush: flusher.flush,
    now,
    onRefused: ({ identifier, userId }) =>
      log.error({ identifier, userId }, 'overages are refused: they are tried again once an hour'),
  })
  if (config.stripe.secretKey === undefined) return overages
  const onError = (error: unknown) => log.error({ err: error }, 'cannot report overages; they wait')
  const onCleanupError = (error: unknown) =>
    log.error({ err: error }, 'cannot remove old reports of overages')
  opening.use(repeat(LOOK_MS, overages.reportDue, onError))
  opening.use(repeat(CLEANUP_MS, overages.removeOld, onCleanupError))
  return overages
}
