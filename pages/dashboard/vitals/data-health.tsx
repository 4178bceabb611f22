import type { RumOverview } from '../../../lib/contract/telemetry-overview.ts'
import { count, hourText } from '../words.ts'

interface DataHealthProps {
  readonly beacons: RumOverview['beacons']
}

/** What came in, of all devices and countries. */
export function DataHealth({ beacons }: DataHealthProps) {
  const { accepted, bots, refused, droppedValues, lastHour } = beacons
  const facts = [
    ['Beacons accepted', count(accepted)],
    ['Last one in the hour of', lastHour === null ? 'Never' : `${hourText(lastHour)} UTC`],
    ['From bots, not counted', count(bots)],
    ['Refused, too many at once', count(refused)],
    ['Values out of range, dropped', count(droppedValues)],
  ] as const
  return (
    <section class="card" aria-labelledby="health">
      <h2 id="health">Health of the data</h2>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
