import { COUNT, rowsOf } from './batch-parts.ts'
import type { AddressRow } from './read-rows.ts'

const SHOWN = 20
const SHOWN_CHARACTERS = 100

/** Keeps a list of the first rows that have no address, and of how many more there are. */
export function listBadRows(list: HTMLElement) {
  const more = document.createElement('li')
  let all = 0
  return {
    clear: () => {
      all = 0
      list.replaceChildren()
      list.hidden = true
    },
    add: (rows: readonly AddressRow[]) => {
      if (rows.length === 0) return
      list.append(...rows.slice(0, Math.max(0, SHOWN - all)).map(toItem))
      all += rows.length
      list.hidden = false
      if (all <= SHOWN) return
      more.textContent = `and ${rowsOf(all - SHOWN)} more, which the result tells`
      list.append(more)
    },
  }
}

function toItem({ row, text }: AddressRow): HTMLLIElement {
  const item = document.createElement('li')
  const shown = text.slice(0, SHOWN_CHARACTERS)
  item.textContent = `Row ${COUNT.format(row)} has no address: “${shown}”`
  return item
}
