import {
  ATTRIBUTION_MAX_LENGTH,
  type Attribution,
  CAUSES,
  type Cause,
  INP_PHASES,
} from '../../contract/telemetry/attribution.ts'
import { type CoreVital, METRIC_RULES } from '../../contract/telemetry/metrics.ts'
import type { Values } from '../sketch/measures.ts'
import { cutText } from './cut-text.ts'
import { UNSHOWN } from './plain-path.ts'

/** What the values of a page view that are not good are attributed to. */
export type Causes = Readonly<Partial<Record<Cause, string>>>

export const ALL_CAUSES = Object.keys(CAUSES) as Cause[] // safe: the keys of a const table

/** Numbers, UUIDs and long hexadecimal texts in names of elements, which may identify a person or a product. */
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{12,}|\d{3,}/gi

/** Keeps the causes of values that are not good. Replaces ids by `*`, so that like elements are counted together. */
export function keepCauses(attribution: Attribution, values: Values): Causes {
  const kept: Partial<Record<Cause, string>> = {}
  for (const cause of ALL_CAUSES) {
    const name = attribution[cause]
    if (!name || !isSlow(CAUSES[cause], values)) continue
    const plain = cause === 'inpPhase' ? toPhase(name) : plainSelector(name)
    if (plain) kept[cause] = plain
  }
  return kept
}

function isSlow(vital: CoreVital, values: Values): boolean {
  return (values[vital] ?? 0) > METRIC_RULES[vital].good
}

function toPhase(name: string): string | undefined {
  return INP_PHASES.find((phase) => phase === name)
}

function plainSelector(selector: string): string {
  return cutText(selector.replaceAll(UNSHOWN, '').replaceAll(ID, '*'), ATTRIBUTION_MAX_LENGTH)
}
