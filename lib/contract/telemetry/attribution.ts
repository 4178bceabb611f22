import * as v from 'valibot'
import { count, strictObject, text, textUpTo } from '../common.ts'
import type { CoreVital } from './metrics.ts'

/** What a value that is not good can be attributed to, and the metric that it belongs to. */
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
    `What the browser attributes values to; kept if the value is not good. Elements are short CSS selectors, of which ${ATTRIBUTION_MAX_LENGTH} characters are kept`,
  ),
)
export type Attribution = v.InferOutput<typeof Attribution>

const CauseTotals = strictObject('Causes of the slow views, by frequency', {
  count: count('Page views whose value was not good and has an attribution'),
  top: v.pipe(
    v.array(
      v.strictObject({
        name: text('A CSS selector, or the name of a phase'),
        count: count('Page views that name it'),
      }),
    ),
    v.description('The five most frequent'),
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
