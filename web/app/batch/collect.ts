import { type Collected, createCollector } from '../../../lib/address-lists/collect.ts'
import type { Row } from '../../../lib/address-lists/read-list.ts'

const MAX_ADDRESSES = 1_000_000

/** Reads a whole list, and keeps each address once. */
export async function collectAddresses(
  list: AsyncIterable<readonly Row[]>,
  onRows: (rows: number) => void,
): Promise<Collected> {
  const { add, collected } = createCollector()
  for await (const part of list) {
    add(part)
    const { addresses, rows } = collected()
    if (addresses.length > MAX_ADDRESSES) throw new Error(TOO_MANY)
    onRows(rows)
  }
  return collected()
}

const TOO_MANY = `The list has more than ${MAX_ADDRESSES.toLocaleString('en')} different addresses.`
