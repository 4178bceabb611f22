/** The names of each time span, up to a limit per span. */
export class CappedNames {
  readonly #bySpan = new Map<number, Set<string>>()
  readonly #limit: number
  readonly #other: string
  readonly #list: (span: number) => Iterable<string>

  /** `list` reads the stored names of a span. Names over the limit become `other`. */
  constructor(limit: number, other: string, list: (span: number) => Iterable<string>) {
    this.#limit = limit
    this.#other = other
    this.#list = list
  }

  /** Throws if the stored names cannot be read. */
  load(span: number): Set<string> {
    const names = this.#bySpan.get(span) ?? new Set(this.#list(span))
    this.#bySpan.set(span, names)
    return names
  }

  /** Returns the name, or `other` if the span is full and the name is new. */
  add(span: number, name: string): string {
    const names = this.load(span)
    if (names.has(name)) return name
    const isFull = names.size - (names.has(this.#other) ? 1 : 0) >= this.#limit
    const kept = isFull ? this.#other : name
    names.add(kept)
    return kept
  }

  /** Forgets the names of all other spans. */
  keepOnly(spans: readonly number[]): void {
    for (const span of this.#bySpan.keys()) {
      if (!spans.includes(span)) this.#bySpan.delete(span)
    }
  }
}
