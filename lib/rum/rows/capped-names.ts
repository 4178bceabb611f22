/** How many names a time span may have, and under which name those over the limit are counted. */
export interface Cap {
  readonly limit: number
  /** `names` are those of the span. */
  readonly other: (name: string, names: ReadonlySet<string>) => string
}

/** The names of each time span, up to a limit per span. */
export class CappedNames<Span> {
  readonly #bySpan = new Map<Span, Set<string>>()
  readonly #cap: Cap
  readonly #list: (span: Span) => Iterable<string>

  /** `list` reads the stored names of a span. */
  constructor(cap: Cap, list: (span: Span) => Iterable<string>) {
    this.#cap = cap
    this.#list = list
  }

  /** Throws if the stored names cannot be read. */
  load(span: Span): Set<string> {
    const names = this.#bySpan.get(span) ?? new Set(this.#list(span))
    this.#bySpan.set(span, names)
    return names
  }

  isFull(span: Span): boolean {
    return this.load(span).size >= this.#cap.limit
  }

  /** Returns the name or, if the span is full and the name is new, the one under which it is counted. */
  add(span: Span, name: string): string {
    const names = this.load(span)
    if (names.has(name)) return name
    const kept = this.isFull(span) ? this.#cap.other(name, names) : name
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
