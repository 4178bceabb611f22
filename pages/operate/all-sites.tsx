import type { Child } from 'hono/jsx'
import { Empty } from '../dashboard/parts/empty.tsx'
import { Field } from '../dashboard/parts/field.tsx'
import { isoTime } from '../dashboard/parts/format.ts'
import type { PageProps } from '../dashboard/parts/notice.tsx'
import { Time } from '../dashboard/parts/time.tsx'
import { Table } from '../table.tsx'
import { Matches } from './matches.tsx'
import { personPath } from './person-view.ts'

/** A site with its owner. Times are epoch milliseconds. */
interface OwnedSite {
  readonly name: string
  readonly userId: string
  readonly email: string
  readonly createdAt: number
  /** null: no valid proof of the host. */
  readonly provenAt: number | null
  readonly missingSince: number | null
  readonly isFirst: boolean
}

interface AllSitesProps extends PageProps {
  /** Beginning of the origin; empty: all. */
  readonly search: string
  readonly sites: readonly OwnedSite[]
  /** Where the next page begins; null: there is none. */
  readonly next: string | null
}

export function AllSites({ base, search, sites, next }: AllSitesProps) {
  const path = `${base}/app/operate/sites`
  const query = next === null ? null : { search, after: next }
  return (
    <>
      <form class="filters" method="get" data-filter action={path}>
        <Field
          name="search"
          label="Origin begins with"
          type="search"
          value={search}
          maxlength={300}
          placeholder="https://"
        />
        <button type="submit" class="quiet">
          Filter
        </button>
      </form>
      <Matches shown={sites.length} nouns={['site', 'sites']} path={path} query={query}>
        {sites.length === 0 ? (
          <Empty icon="globe" title="No site matches">
            <p class="soft">People add their sites on a page of their dashboard.</p>
            <a href={path}>Show all sites</a>
          </Empty>
        ) : (
          <section class="card wide stacked" tabindex={0} aria-label="Table of sites">
            <Table
              isStacked
              heads={['Site', 'Owner', 'Proof', 'Added']}
              rows={sites.map((site) => [
                site.name,
                <a href={personPath(base, site.userId)}>{site.email}</a>,
                proofOf(site),
                <Time at={isoTime(site.createdAt)} precision="day" />,
              ])}
            />
          </section>
        )}
      </Matches>
    </>
  )
}

function proofOf({ provenAt, missingSince, isFirst }: OwnedSite): Child {
  if (provenAt === null) return isFirst ? 'None; registered first' : 'None'
  const text = missingSince === null ? 'Since ' : 'Record missing since '
  return [text, <Time at={isoTime(missingSince ?? provenAt)} precision="day" />]
}
