/**
 * Runs changes of passwords one after the other. better-auth checks the old password long before it
 * writes the new one, so a thief's change could overwrite the owner's reset.
 */
export function createOrder() {
  let last: Promise<unknown> = Promise.resolve()
  return (change: () => Promise<Response>): Promise<Response> => {
    const changed = last.then(change)
    last = changed.catch(() => {})
    return changed
  }
}
