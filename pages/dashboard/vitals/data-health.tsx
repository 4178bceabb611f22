import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { FactList } from '../../fact-list.tsx'
import { Fold } from '../parts/fold.tsx'
import { count, counted, hourText } from '../parts/format.ts'

/** Counts the beacons of all devices and countries. */
export function DataHealth({ beacons }: Pick<RumOverview, 'beacons'>) {
  const { accepted, bots, refused, droppedValues, lastHour } = beacons
  const facts = [
    ['Beacons accepted', count(accepted)],
    [
      'Last hour with an accepted beacon',
      lastHour === null ? 'Never' : `${hourText(lastHour)} UTC`,
    ],
    ['Sent by bots, not stored', count(bots)],
    ['Refused because too many came at once', count(refused)],
    ['Values dropped as out of range', count(droppedValues)],
  ] as const
  return (
    <Fold
      id="health"
      title="Data health"
      glance={`${counted(accepted, 'beacon', 'beacons')} accepted`}
    >
      <FactList facts={facts} />
    </Fold>
  )
}
