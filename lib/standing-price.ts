/** Why Stripe does not tell what it is asked for. */
export interface Untold {
  readonly reason: 'unreachable' | 'key refused' | 'not allowed' | 'missing' | 'other'
  /** Without anything of the key. Where something is not allowed: the permission, if it is named. */
  readonly detail: string
}

/** A price as it stands at Stripe. */
export interface StandingPrice {
  readonly isActive: boolean
  /** ISO 4217, in lower case. */
  readonly currency: string
  /** In the smallest unit of the currency; null: below it. */
  readonly amount: number | null
  /** Such as `1 month`; null: it is paid once. */
  readonly period: string | null
  readonly isMetered: boolean
}
