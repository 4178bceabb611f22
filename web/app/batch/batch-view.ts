import { count, counted } from '../../../pages/dashboard/parts/format.ts'
import type { AddressRow } from './read-rows.ts'

const SHOWN = 20
const SHOWN_CHARACTERS = 100

export interface Files {
  readonly csv: Blob
  readonly json: Blob
}

/** The element with this id. */
export function part<T extends HTMLElement>(id: string): T {
  // safe: pages/dashboard/look-up/batch.tsx contains every id that the script uses
  return document.getElementById(id) as T
}

export function rowsOf(total: number): string {
  return counted(total, 'row', 'rows')
}

export type BatchView = ReturnType<typeof viewBatch>

/** The view of a batch. Sets all texts with textContent, so markup in them is harmless. */
export function viewBatch() {
  const [section, progress] = [part('run'), part<HTMLProgressElement>('progress')]
  const [counter, message] = [part('counted'), part('message')]
  const [stop, goOn] = [part('stop'), part('go-on')]
  const [downloads, badRows] = [part('downloads'), createBadRows(part('errors'))]
  const progressText = () => `${count(progress.value)} of ${rowsOf(progress.max)}`
  const announce = (text: string) => {
    message.textContent = text
  }
  return {
    /** Explains why the look-up cannot start. */
    refuse: (text: string) => {
      section.hidden = false
      progress.hidden = counter.textContent === ''
      announce(text)
    },
    /** Shows that the look-up is running. */
    begin: (rows: number) => {
      for (const element of [section, progress, stop]) element.hidden = false
      goOn.hidden = true
      removeLinks(downloads)
      progress.max = rows
      section.scrollIntoView({ block: 'nearest' })
      stop.focus()
    },
    progress: (answered: number) => {
      if (answered === 0) badRows.clear()
      progress.value = answered
      counter.textContent = progressText()
    },
    /** Shows a message that screen readers read out. */
    announce,
    listBadRows: badRows.add,
    waiting: (seconds: number) => {
      counter.textContent = `${progressText()}, continuing in ${seconds} s`
    },
    /** Shows that the look-up has ended, and offers the files. */
    end: (files: Files | null, left: number) => {
      const wasOnStop = document.activeElement === stop
      stop.hidden = true
      goOn.hidden = left === 0
      if (files !== null) downloads.append(...linksTo(files))
      // The Stop button is hidden now, so move the focus.
      if (wasOnStop) section.querySelector<HTMLElement>('button:not([hidden]), a')?.focus()
    },
    onStop: (listener: () => void) => stop.addEventListener('click', listener),
    onGoOn: (listener: () => void) => goOn.addEventListener('click', listener),
  }
}

function linksTo({ csv, json }: Files): HTMLAnchorElement[] {
  return [
    linkTo(csv, { download: 'addresses.csv', textContent: 'Download CSV', className: 'button' }),
    linkTo(json, {
      download: 'addresses.jsonl',
      textContent: 'Download JSON Lines',
      className: 'button quiet',
    }),
  ]
}

function linkTo(blob: Blob, properties: Partial<HTMLAnchorElement>): HTMLAnchorElement {
  const href = URL.createObjectURL(blob)
  return Object.assign(document.createElement('a'), properties, { href })
}

/** Also revokes the object URLs, so that the browser can free the blobs. */
function removeLinks(downloads: HTMLElement): void {
  for (const { href } of downloads.querySelectorAll('a')) URL.revokeObjectURL(href)
  downloads.replaceChildren()
}

/** Lists the first rows without a valid address, and counts the rest. */
function createBadRows(list: HTMLElement) {
  const more = document.createElement('li')
  let total = 0
  return {
    clear: () => {
      total = 0
      list.replaceChildren()
      list.hidden = true
    },
    add: (rows: readonly AddressRow[]) => {
      if (rows.length === 0) return
      list.append(...rows.slice(0, Math.max(0, SHOWN - total)).map(toItem))
      total += rows.length
      list.hidden = false
      if (total <= SHOWN) return
      more.textContent = `and ${rowsOf(total - SHOWN)} more; see the downloaded file`
      list.append(more)
    },
  }
}

function toItem({ row, text }: AddressRow): HTMLLIElement {
  const item = document.createElement('li')
  const shown = text.slice(0, SHOWN_CHARACTERS)
  item.textContent = `Row ${count(row)} has no valid address: “${shown}”`
  return item
}
