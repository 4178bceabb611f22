import * as v from 'valibot'

/** `pass` leaves a delivery alone, so that a later one can be switched. */
export const DeliverySwitch = v.picklist(['pass', 'drop', 'duplicate', 'reorder'])
export type DeliverySwitch = v.InferOutput<typeof DeliverySwitch>

/** Reordering holds deliveries until it has all of them, then sends them in reverse. */
export function createDeliverySwitches<Item>() {
  const planned: DeliverySwitch[] = []
  let held: Item[] = []
  /** Returns the deliveries held for reordering, in reverse. */
  const release = (): Item[] => {
    const items = held.reverse()
    held = []
    return items
  }
  return {
    /** Sets what happens to the next `count` deliveries, after those already set. */
    set(kind: DeliverySwitch, count: number): void {
      for (let made = 0; made < count; made += 1) planned.push(kind)
    },
    /** Takes `item` and returns what to send now, in order. */
    pass(item: Item): { send: Item[]; dropped: boolean } {
      const kind = planned.shift()
      if (kind === 'drop') return { send: [], dropped: true }
      if (kind === 'duplicate') return { send: [item, item], dropped: false }
      if (kind !== 'reorder') return { send: [...release(), item], dropped: false }
      held.push(item)
      return { send: planned[0] === 'reorder' ? [] : release(), dropped: false }
    },
    release,
  }
}
