/** A user as operators see one. Times are epoch milliseconds. */
export interface PersonView {
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly emailVerified: boolean
  readonly role: 'user' | 'operator'
  /** null: the account is not disabled. */
  readonly disabledAt: number | null
  readonly createdAt: number
  /** Id of the plan that an operator assigned, or of the default plan. */
  readonly assignedPlan: string
  /** The subscription at Stripe; null: there is none. */
  readonly subscribed: { readonly status: string } | null
}

/** The page of a person. An id may come from an auth service, so it may hold any characters. */
export function personPath(base: string, id: string): string {
  return `${base}/app/operate/people/${encodeURIComponent(id)}`
}
