import type { Row } from './read-list.ts'

/** The different addresses of a list. */
export interface Collected {
  readonly rows: number
  /** Rows without an address. */
  readonly without: number
  /** Rows with several addresses. Only one address of such a row is used. */
  readonly several: number
  /** The first rows without an address. */
  readonly bad: readonly BadRow[]
  /** In the order of their first rows. */
  readonly addresses: readonly string[]
  /** The number of rows of each address. */
  readonly counts: readonly number[]
  /** The place of an address in `addresses`. */
  readonly indexOf: (address: string) => number | undefined
}

export interface BadRow {
  /** Counted from 1, as in spreadsheets. */
  readonly row: number
  readonly text: string
}

const BAD_SHOWN = 20

/** Keeps each address of a list once, or each entry. `collected` is what the rows so far contain. */
export function createCollector(entryOf = ({ address }: Row) => address) {
  const found = createAddresses()
  const bad: BadRow[] = []
  let [records, rows, without, several] = [0, 0, 0, 0]
  const addRow = (row: Row) => {
    const { record, hasSeveral } = row
    const address = entryOf(row)
    rows += 1
    if (hasSeveral) several += 1
    if (address !== undefined) return found.add(address)
    without += 1
    if (bad.length < BAD_SHOWN) bad.push({ row: records, text: record })
  }
  return {
    add: (part: readonly Row[]) => {
      for (const row of part) {
        records += 1
        if (row.kind === 'row') addRow(row)
      }
    },
    collected: (): Collected => {
      const { addresses, counts, indexOf } = found
      return { rows, without, several, bad, addresses, counts, indexOf }
    },
  }
}

function createAddresses() {
  const indexes = new Map<string, number>()
  const addresses: string[] = []
  const counts: number[] = []
  const indexOf = (address: string) => indexes.get(canonical(address))
  return {
    addresses,
    counts,
    indexOf,
    add: (address: string) => {
      const known = indexOf(address)
      if (known !== undefined) {
        counts[known] = (counts[known] ?? 0) + 1
        return
      }
      const copy = copyOf(canonical(address))
      indexes.set(copy, addresses.length)
      addresses.push(copy)
      counts.push(1)
    },
  }
}

/** The same text for all ways to write an IPv6 address. */
function canonical(address: string): string {
  if (address.includes('/') || address.includes(' - ')) return address
  return address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}

/** A part of a text would keep the whole text in memory. */
function copyOf(text: string): string {
  return text.split('.').join('.')
}
