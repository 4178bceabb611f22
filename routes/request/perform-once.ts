import * as v from 'valibot'
import { ApiKeyCreated } from '../../lib/contract/account/account-schemas.ts'
import { IDEMPOTENCY_KEY } from '../../lib/contract/operation.ts'
import { HOUR_MS } from '../../lib/parts/durations.ts'
import { fieldError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { HeadContext } from '../context.ts'
import type { Exchange } from './exchange.ts'
import type { AnyReply, Input } from './perform.ts'

/** As long as Stripe keeps them. */
const KEPT_MS = 24 * HOUR_MS

interface Request {
  readonly input: Pick<Input, 'params' | 'query' | 'body'>
  readonly act: () => Promise<AnyReply>
}

/**
 * Returns the reply of `act`. If the request has the header Idempotency-Key, and the same credential has sent it
 * before, returns the first reply. After an error the next request is tried again. A refusal had no effect. A fault
 * may have had one: PostgreSQL may fail after a COMMIT, but before its answer.
 */
export async function performOnce(
  { keptAnswers }: Pick<Services, 'keptAnswers'>,
  { row, caller }: Exchange,
  c: HeadContext,
  { input: { params, query, body }, act }: Request,
): Promise<AnyReply> {
  if (row?.takesIdempotencyKey !== true || caller === null) return act()
  const given = c.req.header('idempotency-key')
  if (given === undefined) return act()
  if (!IDEMPOTENCY_KEY.test(given)) throw fieldError('Idempotency-Key', MALFORMED)
  // Another key of the user may have fewer scopes than the new key that the answer contains.
  const id = ['operation', row.id, given, caller.userId, caller.key?.id ?? 'session']
  const request = { id, userId: caller.userId, body: JSON.stringify([params, query, body]) }
  return keptAnswers.answerOnce(request, async () => {
    const answer = await act()
    return { answer, ms: KEPT_MS, secretOf: newKeyIn(answer) }
  })
}

/** The id of the key whose text the reply contains. */
function newKeyIn(reply: AnyReply): string | undefined {
  return 'body' in reply && v.is(ApiKeyCreated, reply.body) ? reply.body.id : undefined
}

const MALFORMED = 'must be 1 to 255 printable ASCII characters'
