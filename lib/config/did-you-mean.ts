/** Returns the most similar name that differs in at most `mostEdits` letters; undefined if there is none. */
export function findSimilar(
  given: string,
  names: Iterable<string>,
  mostEdits = Number.POSITIVE_INFINITY,
): string | undefined {
  let best: { readonly name: string; readonly edits: number } | undefined
  for (const name of names) {
    if (given.length > LONGEST) break
    const edits = countEdits(lettersOf(given), lettersOf(name))
    const isSimilar = edits <= lettersOf(name).length / MIN_LETTERS_PER_EDIT
    if (isSimilar && edits <= mostEdits && edits < (best?.edits ?? Infinity)) best = { name, edits }
  }
  return best?.name
}

/** Longer names are like none of ours, and comparing them would take long. */
const LONGEST = 60
const MIN_LETTERS_PER_EDIT = 2.5

/** Drops the prefix and underscores, which users often forget or add. */
function lettersOf(name: string): string {
  return name.replace(/^MERIDIAN_/, '').replaceAll('_', '')
}

/** Letters to add, remove or replace (Levenshtein distance). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1]
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
