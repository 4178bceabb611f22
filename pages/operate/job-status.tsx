import type { Child } from 'hono/jsx'
import { Notice } from '../dashboard/parts/notice.tsx'
import { Time } from '../dashboard/parts/time.tsx'

/** Whether a job is running, and the end of its last run. */
export interface JobView {
  /** ISO 8601; null: it is not running. */
  readonly startedAt: string | null
  /** null: no run has ended since the start of the server. */
  readonly endedAt: string | null
  /** Why the last run failed; null if it did not. */
  readonly failure: string | null
}

interface JobStatusProps {
  readonly id: string
  readonly job: JobView
  /** What it does, such as `Downloading`. */
  readonly running: string
  /** What it did, such as `Downloaded`. */
  readonly done: string
  /** The result of the last run, and the data that a run changes. */
  readonly children?: Child
}

/** A job with its result. The page's script refreshes both while the job runs. */
export function JobStatus({ id, job, running, done, children }: JobStatusProps) {
  const { startedAt, endedAt, failure } = job
  return (
    <div id={id} class="job" data-refresh={startedAt === null ? undefined : '2'}>
      {startedAt !== null && (
        <Notice kind="hint">
          {running} since <Time at={startedAt} />. Reload the page to see its progress.
        </Notice>
      )}
      {endedAt !== null &&
        (failure === null ? (
          <p class="soft">
            {done} <Time at={endedAt} />
          </p>
        ) : (
          <Notice kind="error">
            Failed <Time at={endedAt} />: {failure}
          </Notice>
        ))}
      {children}
    </div>
  )
}
