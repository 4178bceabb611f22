import {
  ATTRIBUTION_MAX_LENGTH,
  type Attribution,
  CAUSES,
  type Cause,
  INP_PHASES,
} from '../../contract/telemetry/attribution.ts'
import { METRIC_RULES } from '../../contract/telemetry/metrics.ts'
import type { Values } from '../sketch/measures.ts'
import { cutText } from './cut-text.ts'
import { UNSHOWN } from './plain-path.ts'

/** What the values of a page view are attributed to. */
export type Causes = Readonly<Partial<Record<Cause, string>>>

export const ALL_CAUSES = Object.keys(CAUSES) as Cause[] // safe: the keys of a const table

/** Numbers, UUIDs and long hexadecimal texts in names of elements, which may identify a person or a product. */
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{12,}|\d{3,}/gi

/** Keeps the causes of values that are kept. Replaces ids by `*`, so that like elements are counted together. */
export function keepCauses(attribution: Attribution, values: Values): Causes {
  const kept: Partial<Record<Cause, string>> = {}
  for (const cause of ALL_CAUSES) {
    const name = attribution[cause]
    if (!name || values[CAUSES[cause]] === undefined) continue
    const plain = cause === 'inpPhase' ? toPhase(name) : plainSelector(name)
    if (plain) kept[cause] = plain
  }
  return kept
}

/** Whether the value that the cause belongs to is not good. */
export function isSlow(cause: Cause, values: Values): boolean {
  const metric = CAUSES[cause]
  return (values[metric] ?? 0) > METRIC_RULES[metric].good
}

function toPhase(name: string): string | undefined {
  return INP_PHASES.find((phase) => phase === name)
}

function plainSelector(selector: string): string {
  return cutText(selector.replaceAll(UNSHOWN, '').replaceAll(ID, '*'), ATTRIBUTION_MAX_LENGTH)
}
