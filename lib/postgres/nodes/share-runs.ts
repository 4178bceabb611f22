/** Runs `work` one run at a time: all calls of `run` during a run share the next one. */
export function shareRuns<Result>(work: () => Promise<Result>) {
  let running: Promise<Result> | undefined
  let next: Promise<Result> | undefined
  const begin = (): Promise<Result> => {
    running = work().finally(() => {
      running = undefined
    })
    return running
  }
  const run = (): Promise<Result> => {
    if (next !== undefined) return next
    if (running === undefined) return begin()
    next = running
      .catch(() => {})
      .then(() => {
        next = undefined
        return begin()
      })
    return next
  }
  return {
    run,
    /** Runs `work`, unless the goal is reached, or the run that is under way reaches it. */
    until: async (isReached: () => boolean): Promise<void> => {
      if (!isReached()) await running?.catch(() => {})
      if (!isReached()) await run()
    },
  }
}
