import { listBadRows } from './bad-rows.ts'
import { COUNT, part, rowsOf } from './batch-parts.ts'
import type { AnsweredRow } from './result-lines.ts'

export interface Files {
  readonly csv: Blob
  readonly json: Blob
}

export interface BatchView {
  /** Says why nothing is looked up. */
  refuse(text: string): void
  /** Shows that the rows are being looked up. */
  begin(rows: number): void
  progress(answered: number): void
  /** Says something that is also read out. */
  say(text: string): void
  /** Tells the rows without an address, the first of them each. */
  bad(rows: readonly AnsweredRow[]): void
  waiting(seconds: number): void
  /** Shows that nothing goes on, with what there is to take away. */
  end(files: Files | null, left: number): void
  onStop(listener: () => void): void
  onGoOn(listener: () => void): void
}

/** What the page shows of a batch. All texts are set as texts. */
export function viewBatch(): BatchView {
  const [section, progress] = [part('run'), part<HTMLProgressElement>('progress')]
  const [counted, said, stop, goOn] = [part('counted'), part('said'), part('stop'), part('go-on')]
  const [downloads, badRows] = [part('downloads'), listBadRows(part('errors'))]
  const count = () => `${COUNT.format(progress.value)} of ${rowsOf(progress.max)}`
  const say = (text: string) => {
    said.textContent = text
  }
  return {
    refuse: (text) => {
      section.hidden = false
      progress.hidden = counted.textContent === ''
      say(text)
    },
    begin: (rows) => {
      for (const element of [section, progress, stop]) element.hidden = false
      goOn.hidden = true
      removeLinks(downloads)
      progress.max = rows
      section.scrollIntoView({ block: 'nearest' })
      stop.focus()
    },
    progress: (answered) => {
      if (answered === 0) badRows.clear()
      progress.value = answered
      counted.textContent = count()
    },
    say,
    bad: badRows.add,
    waiting: (seconds) => {
      counted.textContent = `${count()}, going on in ${seconds} s`
    },
    end: (files, left) => {
      const wasOnStop = document.activeElement === stop
      stop.hidden = true
      goOn.hidden = left === 0
      if (files !== null) downloads.append(...linksTo(files))
      // The button that had the focus is gone.
      if (wasOnStop) section.querySelector<HTMLElement>('button:not([hidden]), a')?.focus()
    },
    onStop: (listener) => stop.addEventListener('click', listener),
    onGoOn: (listener) => goOn.addEventListener('click', listener),
  }
}

function linksTo({ csv, json }: Files): HTMLAnchorElement[] {
  const [first, second] = [linkTo(csv, 'addresses.csv'), linkTo(json, 'addresses.jsonl')]
  first.textContent = 'Download CSV'
  second.textContent = 'Download JSON lines'
  second.classList.add('quiet')
  return [first, second]
}

function linkTo(blob: Blob, name: string): HTMLAnchorElement {
  const link = document.createElement('a')
  link.className = 'button'
  link.href = URL.createObjectURL(blob)
  link.download = name
  return link
}

/** With their addresses the browser lets go of the blobs. */
function removeLinks(downloads: HTMLElement): void {
  for (const { href } of downloads.querySelectorAll('a')) URL.revokeObjectURL(href)
  downloads.replaceChildren()
}
