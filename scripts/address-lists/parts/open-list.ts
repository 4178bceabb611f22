import { decodeList } from '../../../lib/address-lists/decode.ts'
import { describeForm } from '../../../lib/address-lists/describe-form.ts'
import { HEAD_CHARACTERS, type ListForm, recognise } from '../../../lib/address-lists/form.ts'
import { BYTE_ORDER_MARK } from '../../../lib/contract/geo/csv-cell.ts'
import { report } from '../../parts/run.ts'
import type { FormOptions } from './form-options.ts'
import { readBytes, STDIN } from './input.ts'

/**
 * Opens a file, or stdin for STDIN. Recognises the form of the list by its first part, and reports it.
 * `chunks` is the whole text.
 */
export async function openList(path: string, { corrections, column }: FormOptions) {
  const texts = decodeList(readBytes(path))
  let head = ''
  while (head.length < HEAD_CHARACTERS) {
    const { done, value } = await texts.next()
    if (done === true) break
    head += value
  }
  const form = recogniseAs(head, { corrections, column })
  report(`Read ${path === STDIN ? '' : `${path} `}as ${describeForm(form)}`)
  return {
    form,
    hasMark: head.startsWith(BYTE_ORDER_MARK),
    chunks: continued(head, texts),
  }
}

function recogniseAs(head: string, { corrections, column }: FormOptions): ListForm {
  const form = recognise(head, corrections)
  if (column === undefined) return form
  return recognise(head, { ...corrections, column: indexOfColumn(column, form) })
}

async function* continued(head: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  yield head
  yield* texts
}

/** The index of a column that is named, or counted from 1. */
function indexOfColumn(column: string, { columns }: ListForm): number {
  const named = columns.findIndex((name) => name.toLowerCase() === column.toLowerCase())
  const index = named >= 0 ? named : Number(column) - 1
  if (columns[index] !== undefined) return index
  const known = columns.length === 0 ? 'none' : columns.join(', ')
  throw new Error(`The list has no column "${column}"; its columns: ${known}`)
}
