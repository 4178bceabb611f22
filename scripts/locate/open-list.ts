import { decodeList } from '../../lib/list/decode.ts'
import { BYTE_ORDER_MARK, HEAD_CHARACTERS, type ListForm, recognise } from '../../lib/list/form.ts'
import type { ListOptions } from './options.ts'

/** Recognises the form of a list by its first part. `chunks` is the whole text. */
export async function openList(
  bytes: AsyncIterable<Uint8Array>,
  { corrections, column }: Pick<ListOptions, 'corrections' | 'column'>,
) {
  const texts = decodeList(bytes)
  let head = ''
  while (head.length < HEAD_CHARACTERS) {
    const { done, value } = await texts.next()
    if (done === true) break
    head += value
  }
  const form = recognise(head, corrections)
  return {
    form:
      column === undefined
        ? form
        : recognise(head, { ...corrections, column: placeOf(column, form) }),
    hasMark: head.startsWith(BYTE_ORDER_MARK),
    chunks: continued(head, texts),
  }
}

async function* continued(head: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  yield head
  yield* texts
}

/** The place of a column that is named, or counted from 1. */
function placeOf(column: string, { columns }: ListForm): number {
  const named = columns.findIndex((name) => name.toLowerCase() === column.toLowerCase())
  const place = named >= 0 ? named : Number(column) - 1
  if (columns[place] !== undefined) return place
  const known = columns.length === 0 ? 'none' : columns.join(', ')
  throw new Error(`The list has no column "${column}"; its columns: ${known}`)
}
