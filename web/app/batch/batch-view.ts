import type { BadRow, Collected } from '../../../lib/address-lists/collect.ts'
import { count, counted } from '../../../pages/dashboard/parts/format.ts'

const SHOWN_CHARACTERS = 100

/** The element with this id. */
export function part<T extends HTMLElement>(id: string): T {
  // safe: pages/dashboard/look-up/batch.tsx contains every id that the script uses
  return document.getElementById(id) as T
}

export function rowsOf(total: number): string {
  return counted(total, 'row', 'rows')
}

export function addressesOf(total: number): string {
  return counted(total, 'address', 'addresses')
}

export type BatchView = ReturnType<typeof viewBatch>

/** The progress of a look-up. Sets all texts with textContent, so markup in them is harmless. */
export function viewBatch() {
  const [section, progress] = [part('run'), part<HTMLProgressElement>('progress')]
  const [counter, message] = [part('counted'), part('message')]
  const [stop, goOn, badRows] = [part('stop'), part('go-on'), part('errors')]
  const bar = [part('run-title'), progress, counter]
  const progressText = () => `${count(progress.value)} of ${addressesOf(progress.max)}`
  const announce = (text: string) => {
    message.textContent = text
  }
  return {
    /** Explains why the look-up cannot start. */
    refuse: (text: string) => {
      section.hidden = false
      if (counter.textContent === '') hide(bar)
      announce(text)
    },
    /** Shows that the look-up is running. */
    begin: () => {
      for (const element of [section, ...bar, stop]) element.hidden = false
      goOn.hidden = true
      section.scrollIntoView({ block: 'nearest' })
      stop.focus()
    },
    /** Shows how many rows are read so far; their total is not known. */
    reading: (rows: number) => {
      progress.removeAttribute('value')
      counter.textContent = `${rowsOf(rows)} read`
    },
    progress: (answered: number, addresses: number) => {
      progress.max = Math.max(1, addresses)
      progress.value = addresses === 0 ? 1 : answered
      counter.textContent = `${count(answered)} of ${addressesOf(addresses)}`
    },
    /** Shows a message that screen readers read out. */
    announce,
    waiting: (seconds: number) => {
      counter.textContent = `${progressText()}, continuing in ${seconds} s`
    },
    /** Lists the first rows without an address, and counts the rest. */
    listBadRows: ({ bad, without }: Collected) => {
      const left = without - bad.length
      const more = left === 0 ? [] : [`and ${rowsOf(left)} more; see the column error`]
      badRows.replaceChildren(...[...bad.map(describeBadRow), ...more].map(toItem))
      badRows.hidden = without === 0
    },
    /** Shows that the look-up has ended. If nothing is left, its message says it all. */
    end: (left: number) => {
      const wasOnStop = document.activeElement === stop
      stop.hidden = true
      goOn.hidden = left === 0
      if (left === 0) {
        counter.textContent = ''
        hide(bar)
      }
      // The Stop button is hidden now, so move the focus.
      if (wasOnStop) (left === 0 ? message : goOn).focus()
    },
    onStop: (listener: () => void) => stop.addEventListener('click', listener),
    onGoOn: (listener: () => void) => goOn.addEventListener('click', listener),
  }
}

function hide(elements: readonly HTMLElement[]): void {
  for (const element of elements) element.hidden = true
}

function describeBadRow({ row, text }: BadRow): string {
  return `Row ${count(row)} has no address: “${text.slice(0, SHOWN_CHARACTERS)}”`
}

function toItem(text: string): HTMLLIElement {
  const item = document.createElement('li')
  item.textContent = text
  return item
}
