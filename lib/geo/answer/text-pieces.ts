/** Texts in a piece. Encoding a piece takes some tens of microseconds. */
const TEXTS = 50
const encoder = new TextEncoder()

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
