/** A longer record means that a quote is not closed. */
const MAX_QUOTED_CHARACTERS = 1_000_000

const MAX_LINE_CHARACTERS = 10_000_000

const LINE_BREAK = /\r\n|\n|\r/g

interface Line {
  readonly text: string
  /** The line break after it; empty at the end of the text. */
  readonly end: string
}

/**
 * Splits a text that arrives in chunks into lines; with a delimiter, into the records of CSV (RFC 4180),
 * whose quoted cells may contain line breaks. Records come without the line break at their end. A quote
 * that does not close is an ordinary character.
 */
export class Records {
  readonly #delimiter: string | undefined
  /** The lines of a record whose quote is still open. */
  #open: Line[] = []
  #openLength = 0
  #rest = ''

  constructor(delimiter: string | undefined) {
    this.#delimiter = delimiter
  }

  /** The records that end in the chunk. Throws an Error if a line is too long to be kept in memory. */
  push(chunk: string): string[] {
    const text = this.#rest + chunk
    const records: string[] = []
    let start = 0
    LINE_BREAK.lastIndex = this.#rest.length === 0 ? 0 : this.#rest.length - 1
    for (let found = LINE_BREAK.exec(text); found !== null; found = LINE_BREAK.exec(text)) {
      const [end] = found
      // The next chunk may begin with the other half of the line break.
      if (end === '\r' && LINE_BREAK.lastIndex === text.length) break
      this.#add({ text: text.slice(start, found.index), end }, records)
      start = LINE_BREAK.lastIndex
    }
    this.#rest = text.slice(start)
    if (this.#rest.length > MAX_LINE_CHARACTERS) throw new Error(TOO_LONG)
    return records
  }

  /** The last records, at the end of the text. */
  end(): string[] {
    const records: string[] = []
    const text = this.#rest
    this.#rest = ''
    if (text.endsWith('\r')) this.#add({ text: text.slice(0, -1), end: '\r' }, records)
    else if (text !== '') this.#add({ text, end: '' }, records)
    while (this.#open.length > 0) this.#giveUp(records)
    return records
  }

  #add(line: Line, records: string[]): void {
    const isOpen = this.#open.length > 0
    if (!this.#leavesOpen(line.text, isOpen)) {
      records.push(isOpen ? toText(this.#open) + line.text : line.text)
      this.#open = []
      this.#openLength = 0
      return
    }
    this.#open.push(line)
    this.#openLength += line.text.length
    if (this.#openLength > MAX_QUOTED_CHARACTERS) this.#giveUp(records)
  }

  #leavesOpen(line: string, isOpen: boolean): boolean {
    if (this.#delimiter === undefined || !line.includes('"')) return isOpen
    return leavesQuoteOpen(line, this.#delimiter, isOpen)
  }

  /** Takes the first line as a record, and reads those after it again. */
  #giveUp(records: string[]): void {
    const [first, ...others] = this.#open
    this.#open = []
    this.#openLength = 0
    if (first !== undefined) records.push(first.text)
    for (const line of others) this.#add(line, records)
  }
}

const TOO_LONG = `The list has a line of more than ${MAX_LINE_CHARACTERS.toLocaleString('en')} characters`

/** Whether a quote is open at the end of the line. A quote opens only at the start of a cell. */
function leavesQuoteOpen(line: string, delimiter: string, isOpen: boolean): boolean {
  let end = isOpen ? endOfQuoted(line, 0) : endOfQuotes(line, 0)
  while (end <= line.length) {
    const next = line.indexOf(delimiter, end)
    if (next < 0) return false
    end = endOfQuotes(line, next + 1)
  }
  return true
}

/** The position after the quotes of the cell that begins at `start`; `start` if it has none. */
function endOfQuotes(line: string, start: number): number {
  return line.charAt(start) === '"' ? endOfQuoted(line, start + 1) : start
}

/** The position after the closing quote; beyond the line if there is none. Two quotes stand for one. */
export function endOfQuoted(line: string, start: number): number {
  for (let at = line.indexOf('"', start); at >= 0; at = line.indexOf('"', at + 2)) {
    if (line.charAt(at + 1) !== '"') return at + 1
  }
  return line.length + 1
}

function toText(lines: readonly Line[]): string {
  return lines.map(({ text, end }) => text + end).join('')
}
