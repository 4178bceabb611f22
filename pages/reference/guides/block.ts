import type { Plan } from '../../../lib/config/plans.ts'
import type { Operation } from '../../../lib/contract/operation.ts'
import type { Field, Shape } from '../../../lib/openapi/fields.ts'
import type { Head } from '../../table.tsx'
import type { Rates } from '../limit-text.ts'

/**
 * A part of a guide: a paragraph, or what its name says. Its texts are lines with code in backticks
 * and links in the form of Markdown.
 */
export type Block =
  | string
  | { readonly heading: string }
  | { readonly code: string }
  | { readonly list: readonly string[] }
  | { readonly heads: readonly Head[]; readonly rows: readonly (readonly string[])[] }
  | { readonly fields: readonly Field[] }

/** What the guides say about this service. */
export interface GuideFacts {
  /** Base URL of the service. */
  readonly url: string
  readonly rates: Rates
  /** Cheapest first. */
  readonly plans: readonly Pick<Plan, 'name' | 'requestsPerMinute' | 'monthlyCap'>[]
  /** The operations that are tools of assistants, and what they are for. */
  readonly tools: readonly { readonly row: Pick<Operation, 'id'>; readonly about: string }[]
  /** The fields of a look-up's answer. */
  readonly result: readonly Shape[]
}
