import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  byCause,
  CAUSES,
  type Cause,
  type CauseTotals,
} from '../../contract/telemetry/attribution.ts'
import { readLabel } from '../store/counts.ts'
import type { RowFilter } from '../store/row.ts'
import { daysOf } from './period.ts'
import type { ReadStore } from './read-store.ts'

const TOP = 5

type AttributionFilter = Omit<RowFilter, 'country'> & { readonly path?: string | undefined }

/** Sums up what the views of the period are attributed to, in whole days. Lets other requests run in between. */
export async function readAttribution(
  store: Pick<ReadStore, 'listCauses'>,
  { siteId, period, device, path }: AttributionFilter,
): Promise<Record<Cause, CauseTotals>> {
  const totals = byCause(() => new Map<string, number>())
  const { from, to } = daysOf(period)
  for (let day = from; day <= to; day++) {
    for (const { label, count } of await store.listCauses(siteId, day)) {
      const [cause, ofDevice, ofPath, name] = readLabel(label)
      const isWanted = ofDevice === (device ?? ofDevice) && ofPath === (path ?? ofPath)
      if (isWanted && isCause(cause)) add(totals[cause], name, count)
    }
    await nextTurn()
  }
  return byCause((cause) => describe(totals[cause]))
}

function add(totals: Map<string, number>, name: string, count: number): void {
  totals.set(name, count + (totals.get(name) ?? 0))
}

/** Rows of a later release may have other causes. */
function isCause(name: string): name is Cause {
  return Object.hasOwn(CAUSES, name)
}

function describe(totals: ReadonlyMap<string, number>): CauseTotals {
  const all = Array.from(totals, ([name, count]) => ({ name, count }))
  const top = all
    .filter(({ name }) => name !== '')
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
  return { count: all.reduce((sum, { count }) => sum + count, 0), top: top.slice(0, TOP) }
}
