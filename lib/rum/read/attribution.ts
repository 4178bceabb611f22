import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  byCause,
  CAUSES,
  type Cause,
  type CauseTotals,
} from '../../contract/telemetry/attribution.ts'
import { type CauseCount, readLabel } from '../store/counts.ts'
import type { RowFilter } from '../store/row.ts'
import { daysOf } from './period.ts'
import type { ReadStore } from './read-store.ts'

const TOP = 5

type AttributionFilter = Omit<RowFilter, 'country'> & { readonly path?: string | undefined }
type Counts = Pick<CauseCount, 'views' | 'slow'>

/** Sums up what the views of the period are attributed to, in whole days. Lets other requests run in between. */
export async function readAttribution(
  store: Pick<ReadStore, 'listCauses'>,
  { siteId, period, device, path }: AttributionFilter,
): Promise<Record<Cause, CauseTotals>> {
  const totals = byCause(() => new Map<string, Counts>())
  const { from, to } = daysOf(period)
  for (let day = from; day <= to; day++) {
    for (const { label, views, slow } of await store.listCauses(siteId, day)) {
      const [cause, ofDevice, ofPath, name] = readLabel(label)
      const isWanted = ofDevice === (device ?? ofDevice) && ofPath === (path ?? ofPath)
      if (isWanted && isCause(cause)) add(totals[cause], name, { views, slow })
    }
    await nextTurn()
  }
  return byCause((cause) => describe(totals[cause]))
}

function add(totals: Map<string, Counts>, name: string, { views, slow }: Counts): void {
  const known = totals.get(name)
  totals.set(name, { views: views + (known?.views ?? 0), slow: slow + (known?.slow ?? 0) })
}

/** Rows of a later release may have other causes. */
function isCause(name: string): name is Cause {
  return Object.hasOwn(CAUSES, name)
}

function describe(totals: ReadonlyMap<string, Counts>): CauseTotals {
  const all = Array.from(totals, ([name, counts]) => ({ name, ...counts }))
  const sum = (count: 'views' | 'slow') => all.reduce((total, each) => total + each[count], 0)
  const named = all.filter(({ name }) => name !== '')
  const top = named.sort(
    (a, b) => b.slow - a.slow || b.views - a.views || (a.name < b.name ? -1 : 1),
  )
  return { views: sum('views'), slow: sum('slow'), top: top.slice(0, TOP) }
}
