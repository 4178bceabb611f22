import * as v from 'valibot'
import { Count, strictObject, textUpTo } from '../common.ts'
import type { CoreVital } from './metrics.ts'

/** What a value can be attributed to, and the metric that it belongs to. */
export const CAUSES = {
  lcp: 'lcp',
  inp: 'inp',
  cls: 'cls',
  inpPhase: 'inp',
} as const satisfies Readonly<Record<string, CoreVital>>
export type Cause = keyof typeof CAUSES

/** The phases of an interaction, in the words of web-vitals. */
export const INP_PHASES = ['input-delay', 'processing', 'presentation'] as const
export type InpPhase = (typeof INP_PHASES)[number]

export const ATTRIBUTION_MAX_LENGTH = 100

const Selector = textUpTo(500)

/** Names of causes that this release does not know are left out, so that newer scripts can send more. */
export const Attribution = v.pipe(
  v.object({
    lcp: v.optional(v.pipe(Selector, v.description('The largest element that was painted'))),
    inp: v.optional(v.pipe(Selector, v.description('The element of the slowest interaction'))),
    inpPhase: v.optional(
      v.pipe(
        Selector,
        v.description(`The longest phase of that interaction: ${INP_PHASES.join(', ')}`),
      ),
    ),
    cls: v.optional(v.pipe(Selector, v.description('The element that shifted most'))),
  }),
  v.description(
    `What the browser attributes its values to. Elements are short CSS selectors, of which ${ATTRIBUTION_MAX_LENGTH} characters are kept`,
  ),
)
export type Attribution = v.InferOutput<typeof Attribution>

const Slow = v.pipe(Count, v.description('Those of them whose value was not good'))

const CauseTotals = v.strictObject({
  views: v.pipe(Count, v.description('Page views with an attribution')),
  slow: Slow,
  top: v.pipe(
    v.array(v.strictObject({ name: v.string(), views: Count, slow: Slow })),
    v.description('The five with the most slow views'),
  ),
})
export type CauseTotals = v.InferOutput<typeof CauseTotals>

/** An object with a value for each cause. */
export function byCause<Value>(make: (cause: Cause) => Value): Record<Cause, Value> {
  return { lcp: make('lcp'), inp: make('inp'), cls: make('cls'), inpPhase: make('inpPhase') }
}

export const AttributionTotals = strictObject(
  'Which elements, and which phases of interactions, slow views have in common',
  byCause(() => CauseTotals),
)
