import type { DBAdapter } from 'better-auth'
import { APIError } from 'better-auth/api'
import { isFault, isOrphan, isTaken } from '../../db/fault.ts'
import type { Log } from '../../parts/log/log.ts'

interface ErrorMap {
  readonly log: Pick<Log, 'error'>
  /** Whether sign-up must not show that an address has an account. */
  readonly hidesUsers: boolean
}

/**
 * Turns database errors into APIErrors, because sign-up mistakes any other error for a refusal.
 * With `hidesUsers`, a taken address becomes FORBIDDEN, which sign-up answers like a success. So
 * even two sign-ups at once do not show that the address has an account.
 */
export function mapErrors(adapter: DBAdapter, map: ErrorMap): DBAdapter {
  const create: DBAdapter['create'] = async (args) => {
    try {
      return await adapter.create(args)
    } catch (error) {
      throw mapError(error, args.model, map)
    }
  }
  return { ...adapter, create }
}

function mapError(error: unknown, model: string, { log, hidesUsers }: ErrorMap): unknown {
  if (hidesUsers && model === 'user' && isTaken(error)) return new APIError('FORBIDDEN')
  // The account was deleted while its owner signed in.
  if (isOrphan(error)) return new APIError('UNAUTHORIZED')
  if (!isFault(error)) return error
  log.error({ err: error }, 'cannot use the database')
  return new APIError('SERVICE_UNAVAILABLE')
}
