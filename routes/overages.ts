import { setOverages } from '../lib/billing/set-overages.ts'
import type { Services } from '../lib/services/services.ts'
import { toActor } from './actor.ts'
import type { Handlers } from './context.ts'

export function overageHandlers({ billing, db }: Services) {
  return {
    setOverages: async ({ caller, body, now }) => {
      const wanted = body.overagesEnabled ? 'on' : 'off'
      const overagesEnabled = await setOverages(billing, toActor(db, caller, now), wanted)
      return { status: 200, body: { overagesEnabled } }
    },
  } satisfies Partial<Handlers>
}
