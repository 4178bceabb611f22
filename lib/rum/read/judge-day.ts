import { CORE_VITALS, type CoreVital } from '../../contract/telemetry/metrics.ts'
import { JUDGED, MIN_VIEWS, rate } from '../../contract/telemetry/rating.ts'
import type { RumOverview } from '../../contract/telemetry/telemetry-overview.ts'

/** A Core Web Vital on a kind of device. */
export interface Judged {
  readonly device: (typeof JUDGED)[number]
  readonly vital: CoreVital
}

/** A vital that is poor, and was not when it was last judged. */
export interface TurnedPoor extends Judged {
  /** The 75th percentile. */
  readonly value: number
}

/** In the order in which the page shows them. */
const ALL: readonly Judged[] = JUDGED.flatMap((device) =>
  CORE_VITALS.map((vital) => ({ device, vital })),
)

/**
 * Judges a whole day by the kinds of device in its overview. `before` has the names of what was poor when it was last
 * judged. What has too few views, or no value, is not judged and stays as it was.
 */
export function judgeDay(devices: RumOverview['devices'], before: ReadonlySet<string>) {
  const judged = ALL.map((one) => {
    const value = judgedValue(devices, one)
    const wasPoor = before.has(nameOf(one))
    const isPoor = value === null ? wasPoor : rate(one.vital, value) === 'poor'
    return { ...one, value, wasPoor, isPoor }
  })
  const turned: readonly TurnedPoor[] = judged.flatMap(
    ({ device, vital, value, wasPoor, isPoor }) =>
      value !== null && isPoor && !wasPoor ? [{ device, vital, value }] : [],
  )
  return { turned, poor: new Set(judged.filter(({ isPoor }) => isPoor).map(nameOf)) }
}

/** null if it is not judged. */
function judgedValue(devices: RumOverview['devices'], { device, vital }: Judged): number | null {
  const found = devices.find(({ deviceType }) => deviceType === device)
  return found === undefined || found.sampleCount < MIN_VIEWS ? null : found.p75[vital]
}

function nameOf({ device, vital }: Judged): string {
  return `${device}-${vital}`
}
