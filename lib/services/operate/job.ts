import { reasonOf } from '../../parts/reason.ts'

/** Whether a job is running, and the end of its last run. Times are epoch milliseconds. */
export interface JobState<Result> {
  /** null: it is not running. */
  readonly startedAt: number | null
  /** null: no run has ended since the start of the process. */
  readonly last: JobOutcome<Result> | null
}

export type JobOutcome<Result> = { readonly endedAt: number } & (
  | { readonly result: Result }
  /** Why it failed. */
  | { readonly reason: string }
)

export type Job<Result, Input = void> = ReturnType<typeof createJob<Result, Input>>

/** Work that runs in the background, one run at a time. Remembers the outcome of the last run. */
export function createJob<Result, Input = void>(
  work: (input: Input) => Promise<Result>,
  now: () => number,
) {
  let startedAt: number | null = null
  let last: JobOutcome<Result> | null = null
  let running: Promise<void> = Promise.resolve()
  const run = async (input: Input) => {
    try {
      const result = await work(input)
      last = { endedAt: now(), result }
    } catch (error) {
      last = { endedAt: now(), reason: reasonOf(error) }
    } finally {
      startedAt = null
    }
  }
  return {
    state: (): JobState<Result> => ({ startedAt, last }),
    /** Starts a run unless one is under way. */
    start: (input: Input): 'started' | 'running' => {
      if (startedAt !== null) return 'running'
      startedAt = now()
      running = run(input)
      return 'started'
    },
    /** Resolves when no run is under way; never rejects. */
    settled: () => running,
  }
}
