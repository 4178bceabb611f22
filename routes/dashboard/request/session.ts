import { authorizeSession } from '../../../lib/access/authenticate.ts'
import type { SessionUser } from '../../../lib/access/find-session.ts'
import type { Operation } from '../../../lib/contract/operation.ts'
import { verifySession } from '../../request/admit.ts'
import type { Exchange } from '../../request/exchange.ts'
import { charge, chargeOrAsk, chargeUser, openMeter } from '../../request/limit.ts'
import type { AnyReply } from '../../request/perform.ts'
import { loadCounts } from '../../request/serve.ts'
import { type Api, type Call, type Given, openCall, performWithin } from '../../request/within.ts'

/** The session of a visitor, who performs operations with it. */
export interface Session {
  readonly open: (row: Operation) => Call
  /** Performs the operation of the call. Throws the ApiError that the API would answer with. */
  readonly perform: (call: Call, given: Given) => Promise<AnyReply>
  /** The next call verifies the session again, as each one does after a change. */
  readonly verifyAgain: () => void
  /** Whether the visit has made the session longer, so that its cookie must last longer, too. */
  readonly isExtended: () => boolean
}

/**
 * Opens the session of this token, which the first call verifies for all that follow: a page that only reads
 * verifies it once.
 */
export function openSession(api: Api, exchange: Exchange, token: string): Session {
  const { services } = api
  let user: Promise<SessionUser> | undefined
  const verifyAgain = () => {
    user = undefined
  }
  let isExtended = false
  const verify = async (call: Call) => {
    try {
      const found = await verifySession(services, call, `Bearer ${token}`)
      isExtended ||= found.isExtended === true
      return found
    } catch (error) {
      verifyAgain()
      throw error
    }
  }
  const admit = async (call: Call) => {
    const { row } = call
    if (row.access === 'public') return charge(services, call)
    user ??= verify(call)
    const found = await user
    const { id } = found
    if (!buildsPages(row)) call.requestCounter = services.requestCounts.findCounter(id, null)
    call.caller = { ...authorizeSession(services, found, row), app: 'dashboard' }
    await loadCounts(services, call)
    if (buildsPages(row)) chargeUser(services, call, 'dashboard', id)
    else {
      call.meter = openMeter(services, call)
      await chargeOrAsk(services, call)
    }
  }
  return {
    open: (row) => openCall(services, exchange, row),
    perform: async (call, given) => {
      // The session may have ended since the page verified it, such as while its form arrived.
      if (call.row.method !== 'get') verifyAgain()
      try {
        return await performWithin(api, call, given, () => admit(call))
      } finally {
        // A change may give the user another plan, or end the session.
        if (call.row.method !== 'get') verifyAgain()
      }
    },
    verifyAgain,
    isExtended: () => isExtended,
  }
}

/**
 * Whether the dashboard builds its pages by the operation, under a limit of its own. Look-ups made there are the
 * user's: they are charged to the plan, and counted.
 */
function buildsPages({ access }: Operation): boolean {
  return access !== 'geo:read'
}
