import { type BatchColumn, fieldsOf } from '../../../pages/dashboard/look-up/batch-columns.ts'
import { type BatchView, type Files, rowsOf } from './batch-view.ts'
import { fetchBatch } from './fetch-batch.ts'
import { lookUpRows } from './look-up-rows.ts'
import type { AddressColumn } from './read-rows.ts'
import { type AnsweredRow, toCsvHeader, toCsvLine, toJsonLine } from './result-lines.ts'

export interface Service {
  readonly path: string
  /** Addresses in one request. */
  readonly size: number
}

/** Looks up one batch and collects the results as blobs, which browsers can keep out of memory. */
export function createRun(service: Service, view: BatchView, columns: readonly BatchColumn[]) {
  const csv = [new Blob([toCsvHeader(columns)])]
  const json: Blob[] = []
  let [answered, invalid, degraded] = [0, 0, false]
  let stopping = new AbortController()

  const keep = (rows: readonly AnsweredRow[]) => {
    csv.push(new Blob(rows.map((row) => toCsvLine(row, columns))))
    json.push(new Blob(rows.map(toJsonLine)))
    answered += rows.length
    const without = rows.filter(({ result }) => 'error' in result)
    invalid += without.length
    view.listBadRows(without)
    view.progress(answered)
  }
  const send = async (ips: readonly string[]) => {
    const request = { ips, fields: fieldsOf(columns) }
    const reply = await fetchBatch(service.path, request, stopping.signal)
    degraded ||= reply.degraded === true
    return reply
  }
  const wait = async (seconds: number) => {
    view.announce('You have reached the per-minute limit. The look-up continues automatically.')
    for (let left = seconds; left > 0; left--) {
      view.waiting(left)
      await waitSecond(stopping.signal)
    }
  }
  const summary = () =>
    [
      `Done: ${rowsOf(answered)}${invalid === 0 ? '' : `, ${rowsOf(invalid)} without a valid address`}.`,
      ...(degraded ? [REDUCED] : []),
    ].join(' ')

  return {
    /** Looks up the remaining rows. */
    go: async ({ header, rows }: AddressColumn) => {
      stopping = new AbortController()
      view.begin(rows.length)
      view.progress(answered)
      const place = header === null ? '' : ` of the column “${header.slice(0, 100)}”`
      view.announce(`Looking up ${rowsOf(rows.length - answered)}${place}.`)
      const outcome = await lookUpRows(rows, answered, {
        size: service.size,
        send,
        wait,
        keep,
      }).then(summary, (error: Error) => (stopping.signal.aborted ? 'Stopped.' : error.message))
      view.progress(answered)
      view.announce(outcome)
      view.end(answered === 0 ? null : filesOf(csv, json), rows.length - answered)
    },
    stop: () => stopping.abort(),
  }
}

const REDUCED =
  'You have used all requests of this period, so some results contain only the country.'

function filesOf(csv: readonly Blob[], json: readonly Blob[]): Files {
  return {
    csv: new Blob([...csv], { type: 'text/csv' }),
    json: new Blob([...json], { type: 'application/jsonl' }),
  }
}

/** Waits a second. Throws if the signal is aborted. */
function waitSecond(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1_000)
    const stop = () => {
      clearTimeout(timer)
      reject(new Error('Stopped'))
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}
