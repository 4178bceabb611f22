/**
 * Collects items for another thread, and sends them in one message: those of one turn of the event loop or, with
 * `queueMicrotask`, of one callback.
 */
export function createOutbox<Item>(
  send: (items: Item[]) => void,
  later: (sendAll: () => void) => void = setImmediate,
): (item: Item) => void {
  let items: Item[] = []
  const sendAll = () => {
    send(items)
    items = []
  }
  return (item) => {
    if (items.push(item) === 1) later(sendAll)
  }
}
