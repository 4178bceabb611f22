const SLICE_MS = 20

/**
 * For long work: the returned function waits, once the work has run for a slice of time, until the page
 * has answered to the user.
 */
export function createPause(): () => Promise<void> {
  let end = performance.now() + SLICE_MS
  return async () => {
    if (performance.now() < end) return
    await new Promise((resolve) => {
      setTimeout(resolve)
    })
    end = performance.now() + SLICE_MS
  }
}
