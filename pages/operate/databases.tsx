import { databaseName } from '../../lib/contract/geo/database-names.ts'
import { Card } from '../dashboard/parts/card.tsx'
import type { Problem } from '../dashboard/parts/field.tsx'
import { PostButton } from '../dashboard/parts/form.tsx'
import { counted, size } from '../dashboard/parts/format.ts'
import { Notice, type PageProps, Result } from '../dashboard/parts/notice.tsx'
import { Time } from '../dashboard/parts/time.tsx'
import { numbers, Table } from '../table.tsx'
import { FreeLists, type ShownList } from './free-lists.tsx'
import { Geofeeds, type ShownGeofeed } from './geofeeds.tsx'
import { JobStatus, type JobView } from './job-status.tsx'
import { MaxmindAccount, type MaxmindAccountProps } from './maxmind-account.tsx'

/** A database that is served. Times are ISO 8601. */
export interface ServedDatabase {
  readonly name: string
  readonly provider: string
  readonly type: string
  readonly path: string
  readonly bytes: number
  readonly builtAt: string
  readonly ageDays: number
  /** Why it is older than the provider's newest, and what to do; undefined: it is not. */
  readonly old: { readonly reason: string; readonly onPage: string } | undefined
  readonly openedAt: string
  /** The last version that was refused since the start. */
  readonly refusal: { readonly at: string; readonly reason: string } | undefined
  /** Whether the file was refused and an earlier version of it is served. */
  readonly isEarlier: boolean
}

interface DatabasesProps extends PageProps {
  /** Who gave MaxMind's account; null: nobody. */
  readonly account: MaxmindAccountProps['origin']
  readonly problem?: Problem | undefined
  readonly databases: readonly ServedDatabase[]
  /** The free lists that a download has tried. */
  readonly lists: readonly ShownList[]
  /** The geofeeds of the last update. */
  readonly geofeeds: readonly ShownGeofeed[]
  /** null: this server serves only the operator's files. */
  readonly download: DownloadView | null
}

interface DownloadView extends JobView {
  /** Whether the server looks for newer databases every day. */
  readonly isRegular: boolean
  readonly succeededAt: string | null
}

export function Databases(props: DatabasesProps) {
  const { base, databases, lists, geofeeds, download, account, problem, done = '', error } = props
  return (
    <>
      <Result error={error} done={DONE[done]} />
      <JobStatus
        id="databases"
        job={download ?? NO_JOB}
        running="Downloading"
        done="The last download ended"
      >
        <OldDatabases databases={databases} />
        {databases.map((database) => (
          <Refusal database={database} />
        ))}
        <Card id="used-title" title="In use">
          <DatabaseTable databases={databases} />
        </Card>
        {lists.length > 0 && <FreeLists lists={lists} />}
        {geofeeds.length > 0 && <Geofeeds geofeeds={geofeeds} />}
      </JobStatus>
      <Card id="download-title" title="Download">
        {download === null ? (
          <p>
            This server does not download databases: MERIDIAN_GEO names the files that it serves.
          </p>
        ) : (
          <>
            <DownloadTimes {...download} />
            <PostButton action={`${base}/app/operate/databases/download`} text="Download now" />
          </>
        )}
      </Card>
      {download !== null && <MaxmindAccount base={base} origin={account} problem={problem} />}
    </>
  )
}

function DownloadTimes({ isRegular, succeededAt }: DownloadView) {
  return (
    <p>
      {isRegular
        ? 'The server looks for newer databases once a day.'
        : 'MERIDIAN_GEO_DOWNLOAD=0 turns the daily download off.'}{' '}
      Last successful check: <Time at={succeededAt} />
    </p>
  )
}

const DONE: Readonly<Record<string, string>> = {
  kept: 'The account is saved. The next download uses it.',
  removed: 'The account was removed.',
}

const NO_JOB: JobView = { startedAt: null, endedAt: null, failure: null }

/** Says why databases are old, once for all that are so for the same reason. */
function OldDatabases({ databases }: Pick<DatabasesProps, 'databases'>) {
  const reasons = Map.groupBy(
    databases.flatMap(({ old }) => old ?? []),
    ({ reason, onPage }) => `${reason}. To renew, ${onPage}.`,
  )
  return [...reasons].map(([why, { length }]) => (
    <Notice kind="hint">
      {counted(length, 'database is', 'databases are')} old: {why}
    </Notice>
  ))
}

interface DatabaseProps {
  readonly database: ServedDatabase
}

function Refusal({ database: { name, refusal, isEarlier } }: DatabaseProps) {
  if (refusal === undefined) return null
  return (
    <Notice kind={isEarlier ? 'error' : 'hint'}>
      A new version of {databaseName(name)} was refused <Time at={refusal.at} />: {refusal.reason}
      {isEarlier && '. An earlier version is served until the file is replaced.'}
    </Notice>
  )
}

function DatabaseTable({ databases }: Pick<DatabasesProps, 'databases'>) {
  return (
    <section class="wide stacked" tabindex={0} aria-label="Table of databases">
      <Table
        isStacked
        heads={['Database', 'Provider', 'Type', 'Built', ...numbers('Size'), 'In use since']}
        rows={databases.map((database) => [
          <>
            {databaseName(database.name)} <State database={database} />
            <div class="request soft">{database.path}</div>
          </>,
          databaseName(database.provider),
          databaseName(database.type),
          <>
            <Time at={database.builtAt} precision="day" />,{' '}
            <span class="whole">{counted(database.ageDays, 'day', 'days')} ago</span>
          </>,
          size(database.bytes),
          <Time at={database.openedAt} />,
        ])}
      />
    </section>
  )
}

function State({ database: { isEarlier, old } }: DatabaseProps) {
  if (isEarlier) return <span class="badge error">Earlier version</span>
  if (old !== undefined) return <span class="badge near">Old</span>
  return <span class="badge good">Current</span>
}
