/** Counts the turns of the event loop until it is disposed of. */
export function countTurns() {
  let count = 0
  let next = setImmediate(takeTurn)
  function takeTurn(): void {
    count += 1
    next = setImmediate(takeTurn)
  }
  return { count: () => count, [Symbol.dispose]: () => clearImmediate(next) }
}
