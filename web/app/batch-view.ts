import type { AnsweredRow } from './result-lines.ts'

const COUNT = new Intl.NumberFormat('en')

export interface Links {
  readonly csv: Blob
  readonly json: Blob
}

export interface BatchView {
  /** Shows that the rows are being looked up. */
  begin(rows: number): void
  progress(answered: number): void
  /** Says something that is also read out. */
  say(text: string): void
  /** Tells the rows without an address, the first of them each. */
  bad(rows: readonly AnsweredRow[]): void
  waiting(seconds: number): void
  /** Shows that nothing goes on, with what there is to take away. */
  end(links: Links | null, left: number): void
  onStop(listener: () => void): void
  onGoOn(listener: () => void): void
}

const SHOWN_ERRORS = 20

/** What the page shows of a batch. All texts are set as texts. */
export function viewBatch(): BatchView {
  const [section, progress] = [part('run'), part<HTMLProgressElement>('progress')]
  const [counted, said, errors] = [part('counted'), part('said'), part('errors')]
  const [stop, goOn] = [part('stop'), part('go-on')]
  const downloads = part('downloads')
  let bad = 0
  const show = (running: boolean) => {
    section.hidden = false
    stop.hidden = !running
    goOn.hidden = true
    for (const { href } of downloads.querySelectorAll('a')) URL.revokeObjectURL(href)
    downloads.replaceChildren()
  }
  return {
    begin: (rows) => {
      show(true)
      progress.max = rows
      section.scrollIntoView({ block: 'nearest' })
    },
    progress: (answered) => {
      if (answered === 0) {
        bad = 0
        errors.replaceChildren()
        errors.hidden = true
      }
      progress.value = answered
      counted.textContent = `${COUNT.format(answered)} of ${rowsOf(progress.max)}`
    },
    say: (text) => {
      section.hidden = false
      said.textContent = text
    },
    bad: (rows) => {
      for (const { row, text } of rows.slice(0, Math.max(0, SHOWN_ERRORS - bad))) {
        errors.append(itemOf(`Row ${COUNT.format(row)} has no address: “${text.slice(0, 100)}”`))
      }
      bad += rows.length
      if (bad > SHOWN_ERRORS) {
        if (errors.childElementCount > SHOWN_ERRORS) errors.lastElementChild?.remove()
        errors.append(itemOf(`and ${rowsOf(bad - SHOWN_ERRORS)} more; the result names them all`))
      }
      errors.hidden = bad === 0
    },
    waiting: (seconds) => {
      counted.textContent = `${COUNT.format(progress.value)} of ${rowsOf(progress.max)}, going on in ${seconds} s`
    },
    end: (made, left) => {
      show(false)
      goOn.hidden = left === 0
      if (made === null) return
      downloads.append(
        linkTo(made.csv, { name: 'addresses.csv', text: 'Download CSV', look: 'button' }),
        linkTo(made.json, {
          name: 'addresses.jsonl',
          text: 'Download JSON lines',
          look: 'button quiet',
        }),
      )
    },
    onStop: (listener) => stop.addEventListener('click', listener),
    onGoOn: (listener) => goOn.addEventListener('click', listener),
  }
}

export function rowsOf(count: number): string {
  return `${COUNT.format(count)} ${count === 1 ? 'row' : 'rows'}`
}

interface Download {
  readonly name: string
  readonly text: string
  readonly look: 'button' | 'button quiet'
}

function linkTo(blob: Blob, { name, text, look }: Download): HTMLAnchorElement {
  const link = document.createElement('a')
  link.className = look
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.textContent = text
  return link
}

function itemOf(text: string): HTMLLIElement {
  const item = document.createElement('li')
  item.textContent = text
  return item
}

export function part<T extends HTMLElement>(id: string): T {
  // safe: pages/dashboard/batch.tsx has all that this script asks for
  return document.getElementById(id) as T
}
