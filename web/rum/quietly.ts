/** Makes a function that never throws, so that the script cannot break the page. */
export function quietly<Args extends readonly unknown[]>(run: (...args: Args) => void) {
  return (...args: Args): void => {
    try {
      run(...args)
    } catch {
      // The page goes on without being measured.
    }
  }
}
