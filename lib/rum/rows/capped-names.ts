/** The names of each time span, up to a limit per span. */
export class CappedNames<Span> {
  readonly #bySpan = new Map<Span, Set<string>>()
  readonly #limit: number
  readonly #other: string
  readonly #list: (span: Span) => Iterable<string>

  /** `list` reads the stored names of a span. Names over the limit become `other`. */
  constructor(limit: number, other: string, list: (span: Span) => Iterable<string>) {
    this.#limit = limit
    this.#other = other
    this.#list = list
  }

  /** Throws if the stored names cannot be read. */
  load(span: Span): Set<string> {
    const names = this.#bySpan.get(span) ?? new Set(this.#list(span))
    this.#bySpan.set(span, names)
    return names
  }

  isFull(span: Span): boolean {
    const names = this.load(span)
    return names.size - (names.has(this.#other) ? 1 : 0) >= this.#limit
  }

  /** Returns the name, or `other` if the span is full and the name is new. */
  add(span: Span, name: string): string {
    const names = this.load(span)
    if (names.has(name)) return name
    const kept = this.isFull(span) ? this.#other : name
    names.add(kept)
    return kept
  }

  /** Forgets the names of all other spans. */
  keepOnly(spans: readonly Span[]): void {
    for (const span of this.#bySpan.keys()) {
      if (!spans.includes(span)) this.#bySpan.delete(span)
    }
  }
}
