import { Card } from '../dashboard/parts/card.tsx'
import { count } from '../dashboard/parts/format.ts'
import { Time } from '../dashboard/parts/time.tsx'
import { numbers, Table } from '../table.tsx'

/** A free list of addresses, which is compiled into a database. Times are ISO 8601. */
export interface ShownList {
  readonly name: string
  readonly networks: number | undefined
  /** When the version in use was last up to date; null: there is none. */
  readonly checkedAt: string | null
  /** Why the last download failed or was refused. */
  readonly failure: { readonly at: string; readonly reason: string } | undefined
}

export function FreeLists({ lists }: { readonly lists: readonly ShownList[] }) {
  return (
    <Card id="lists-title" title="Free lists">
      <section class="wide stacked" tabindex={0} aria-label="Table of free lists">
        <Table
          isStacked
          heads={['List', ...numbers('Networks'), 'Up to date', 'Last failure']}
          rows={lists.map(({ name, networks, checkedAt, failure }) => [
            name,
            networks === undefined ? '' : count(networks),
            <Time at={checkedAt} />,
            failure === undefined ? (
              ''
            ) : (
              <>
                <Time at={failure.at} />: {failure.reason}
              </>
            ),
          ])}
        />
      </section>
    </Card>
  )
}
