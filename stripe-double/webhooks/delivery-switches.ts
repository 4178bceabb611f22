import * as v from 'valibot'

/** `pass` leaves deliveries alone: a plan can place its faults anywhere. */
export const DeliverySwitch = v.picklist(['pass', 'drop', 'duplicate', 'reorder'])
export type DeliverySwitch = v.InferOutput<typeof DeliverySwitch>

export interface DeliverySwitches<Item> {
  /** What happens to the next `count` deliveries. Switches that are set later come later. */
  set(kind: DeliverySwitch, count: number): void
  /** What is to be sent now that `item` has come, in order. */
  pass(item: Item): { send: Item[]; dropped: boolean }
  /** What is held back for reordering, last first. */
  release(): Item[]
}

/** Reordering holds deliveries until it has all that it was asked for, and turns them round. */
export function createDeliverySwitches<Item>(): DeliverySwitches<Item> {
  const planned: DeliverySwitch[] = []
  let held: Item[] = []
  const release = () => {
    const items = held.reverse()
    held = []
    return items
  }
  return {
    set(kind, count) {
      for (let made = 0; made < count; made += 1) planned.push(kind)
    },
    pass(item) {
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
