import { isMissing, Refusal, type StripeCalls } from './stripe-calls.ts'

/** More are never open, since each new one closes those before it. */
const MOST = 100

/** Closes the pages on which the customer could still pay. Returns whether all are closed now. */
export async function expireOpenSessions(calls: StripeCalls, customer: string): Promise<boolean> {
  const ids = await listOpenSessions(calls, customer)
  const outcomes = await Promise.all(ids.map((id) => expire(calls, id)))
  return outcomes.every((expired) => expired)
}

async function listOpenSessions(calls: StripeCalls, customer: string): Promise<string[]> {
  const asked = { customer, status: 'open', limit: MOST } as const
  try {
    const open = await calls.read((stripe, options) =>
      stripe.checkout.sessions.list(asked, options),
    )
    return open.data.map(({ id }) => id)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function expire(calls: StripeCalls, id: string): Promise<boolean> {
  try {
    await calls.write((stripe, options) => stripe.checkout.sessions.expire(id, {}, options))
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
