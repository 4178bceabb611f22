const SLICE_MS = 20

/**
 * Keeps the page responsive during long work: the returned function, called between steps of the work, lets
 * the browser handle events once the work has run for `SLICE_MS`.
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
