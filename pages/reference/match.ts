/** The words of a page by which the search finds it. */
export interface SearchEntry {
  /** Address of the page, below the base path of the service. */
  readonly path: string
  /** In lower case. */
  readonly words: string
}

/** Whether the words contain every word of the query. */
export function isMatch({ words }: Pick<SearchEntry, 'words'>, query: string): boolean {
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(word))
}
