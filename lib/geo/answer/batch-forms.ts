import type { MediaType } from '../../contract/operation.ts'
import type { Address } from '../../parts/net/address.ts'
import { asciiJson } from '../place/json-text.ts'
import { NOT_AN_ADDRESS, shownText } from './bulk.ts'
import { createResultCsv } from './result-csv.ts'
import type { AnswerOptions, Shape } from './shape.ts'

/** Texts in a piece. Encoding a piece takes some tens of microseconds. */
const TEXTS = 50
const encoder = new TextEncoder()

/** How a batch is written. */
export interface BatchForm {
  /** Writes a result. `json` is the result without the caller's options, which `shape` applies. */
  readonly located: (json: string, address: Address, shape: Shape | undefined) => string
  /** Writes the error for a text that is not an address. */
  readonly invalid: (text: string) => string
  readonly start: string
  /** Separates results. */
  readonly between: string
  /** `meta` is the JSON of what all results have in common. */
  readonly end: (meta: string) => string
}

export function batchForm(form: MediaType, options: AnswerOptions): BatchForm {
  if (form === 'text/csv') return csvForm(options)
  return form === 'application/x-ndjson' ? JSON_LINES : JSON_FORM
}

/**
 * Joins many texts into one, as bytes. Encoding a few texts at a time takes less time and memory than encoding
 * all of them at the end: garbage collection would copy them first.
 */
export class TextPieces {
  readonly #between: string
  readonly #pieces: Uint8Array[] = []
  #texts: string[] = []

  /** `between` separates the texts. */
  constructor(between: string) {
    this.#between = between
  }

  add(text: string): void {
    if (this.#texts.length === TEXTS) this.#encode(this.#between)
    this.#texts.push(text)
  }

  /** Adds `text` after the last one, without a separator. Returns all pieces. */
  end(text: string): readonly Uint8Array[] {
    this.#encode(text)
    return this.#pieces
  }

  #encode(after: string): void {
    this.#pieces.push(encoder.encode(this.#texts.join(this.#between) + after))
    this.#texts = []
  }
}

const RESULT_AS_JSON = {
  located: (json, address, shape) => (shape === undefined ? json : shape(json, address)),
  invalid: (text) => asciiJson(toError(text)),
} satisfies Pick<BatchForm, 'located' | 'invalid'>

const JSON_FORM: BatchForm = {
  ...RESULT_AS_JSON,
  start: '{"results":[',
  between: ',',
  end: (meta) => `],"meta":${meta}}`,
}

const JSON_LINES: BatchForm = {
  located: (...result) => `${RESULT_AS_JSON.located(...result)}\n`,
  invalid: (text) => `${RESULT_AS_JSON.invalid(text)}\n`,
  start: '',
  between: '',
  end: () => '',
}

function csvForm(options: AnswerOptions): BatchForm {
  const { header, row } = createResultCsv(options)
  return {
    located: (json, address, shape) =>
      row(address.text, JSON.parse(shape === undefined ? json : shape(json, address))),
    invalid: (text) => row(shownText(text), toError(text)),
    start: header,
    between: '',
    end: () => '',
  }
}

function toError(text: string) {
  return {
    query: { type: 'ip', value: shownText(text) },
    error: { code: 'BAD_REQUEST', message: NOT_AN_ADDRESS },
  }
}
