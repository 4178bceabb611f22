import { createPlaceCounts } from '../../lib/address-lists/count-places.ts'
import { NO_ADDRESS } from '../../lib/address-lists/find-addresses.ts'
import type { ListForm } from '../../lib/address-lists/form.ts'
import { type Row, readList } from '../../lib/address-lists/read-list.ts'
import { ownNames } from '../../lib/address-lists/write-list.ts'
import { BATCH_MAX } from '../../lib/contract/geo/batch.ts'
import type { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import type { BatchAnswer } from '../../pages/dashboard/look-up/batch.tsx'
import {
  addedCells,
  BATCH_FIELDS,
  type BatchColumn,
} from '../../pages/dashboard/look-up/batch-columns.ts'
import type { CallApi } from './request/call-api.ts'

interface TypedList {
  readonly text: string
  readonly form: ListForm
  readonly columns: readonly BatchColumn[]
}

/** A wider table would take too long to show. */
const MAX_COLUMNS = 50

/** Looks up a short list, asking for each address once. */
export async function lookUpList(
  { text, form, columns }: TypedList,
  callApi: CallApi,
): Promise<BatchAnswer> {
  const rows = await readRows(text, form)
  const results = await locateOnce(rows, callApi)
  const resultOf = ({ address }: Row) => results.get(canonical(address))
  const added = rows.map((row) => {
    const result = resultOf(row)
    const answer =
      result === undefined ? { error: NO_ADDRESS } : { ip: canonical(row.address), result }
    return addedCells(columns, answer).map((cell) => String(cell ?? ''))
  })
  const width = ownNames(form).length
  return {
    form,
    rows: rows.map((row, at) => [...ownCells(row, width), ...(added[at] ?? [])]),
    ...countPlaces(rows.map((row) => [canonical(row.address), resultOf(row)])),
    degraded: [...results.values()].some(({ meta }) => meta?.degraded === true),
  }
}

async function readRows(text: string, form: ListForm): Promise<Row[]> {
  const rows: Row[] = []
  for await (const part of readList([text], form)) rows.push(...part)
  const filled = rows.filter(({ kind }) => kind === 'row')
  if (filled.length === 0) throw new ApiError('BAD_REQUEST', 'Enter at least one address')
  refuseMore(filled.length, BATCH_MAX, 'rows')
  const lengths = filled.map(({ cells = [] }) => cells.length)
  refuseMore(Math.max(form.columns.length, ...lengths), MAX_COLUMNS, 'columns')
  return filled
}

function refuseMore(count: number, most: number, things: string): void {
  if (count <= most) return
  throw new ApiError('BAD_REQUEST', `${count} ${things} are too many; the maximum is ${most}`)
}

async function locateOnce(
  rows: readonly Row[],
  callApi: CallApi,
): Promise<ReadonlyMap<string, GeolocationResult>> {
  const ips = [...new Set(rows.map(({ address }) => canonical(address)))].filter((ip) => ip !== '')
  if (ips.length === 0) return new Map()
  const { results } = await callApi('locateBatch', { body: { ips, fields: [...BATCH_FIELDS] } })
  // safe: all texts are addresses, so none of the results is an error
  return new Map(ips.map((ip, at) => [ip, results[at] as GeolocationResult]))
}

/** The address as the API writes it; '' if there is none. */
function canonical(address: string | undefined): string {
  return parseAddress(address ?? '')?.text ?? ''
}

function ownCells({ record, cells = [record] }: Row, width: number): string[] {
  return [...cells, ...Array<string>(Math.max(0, width - cells.length)).fill('')]
}

function countPlaces(rows: readonly (readonly [string, GeolocationResult | undefined])[]) {
  const { add, addWithout, counts } = createPlaceCounts()
  for (const [address, result] of rows) {
    if (result === undefined) addWithout(1)
    else add(address, result, 1)
  }
  return counts()
}
