import { Card } from '../dashboard/parts/card.tsx'
import { count } from '../dashboard/parts/format.ts'
import { Time } from '../dashboard/parts/time.tsx'
import { numbers, Table } from '../table.tsx'

/** A geofeed, in which an operator of networks states where they are. Times are ISO 8601. */
export interface ShownGeofeed {
  /** URL or path. */
  readonly source: string
  readonly entries?: number | undefined
  /** Entries outside the blocks of the feed. */
  readonly outside?: number | undefined
  /** Lines that are not valid entries. */
  readonly bad?: number | undefined
  /** The first ignored lines. */
  readonly examples: readonly string[]
  /** When the version in use was last up to date; null: there is none. */
  readonly checkedAt: string | null
  /** Why the last update failed or was refused. */
  readonly failure: { readonly at: string; readonly reason: string } | undefined
}

export function Geofeeds({ geofeeds }: { readonly geofeeds: readonly ShownGeofeed[] }) {
  return (
    <Card id="geofeeds-title" title="Geofeeds">
      <section class="wide stacked" tabindex={0} aria-label="Table of geofeeds">
        <Table
          isStacked
          heads={[
            'Geofeed',
            ...numbers('Networks', 'Outside', 'Bad lines'),
            'Up to date',
            'Problems',
          ]}
          rows={geofeeds.map(({ source, entries, outside, bad, checkedAt, ...feed }) => [
            source,
            entries === undefined ? '' : count(entries),
            outside === undefined ? '' : count(outside),
            bad === undefined ? '' : count(bad),
            <Time at={checkedAt} />,
            <Problems {...feed} />,
          ])}
        />
      </section>
    </Card>
  )
}

function Problems({ failure, examples }: Pick<ShownGeofeed, 'failure' | 'examples'>) {
  if (failure === undefined) return <>{examples.join('; ')}</>
  return (
    <>
      <Time at={failure.at} />: {failure.reason}
    </>
  )
}
