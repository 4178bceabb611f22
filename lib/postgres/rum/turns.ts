import { setImmediate as nextTurn } from 'node:timers/promises'

const TURN_MS = 1

/** Maps the items, and lets other work run after each millisecond. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  let end = performance.now() + TURN_MS
  for (const item of items) {
    if (performance.now() > end) {
      await nextTurn()
      end = performance.now() + TURN_MS
    }
    results.push(map(item))
  }
  return results
}
