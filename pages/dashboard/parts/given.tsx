/**
 * Text that a person chose, such as a name, within a line of ours: its writing direction does not change the
 * words around it. A paragraph of its own does not need it.
 */
export function Given({ text }: { readonly text: string }) {
  return <bdi>{text}</bdi>
}

/** The same for attributes, which hold no elements: without the characters that set a direction. */
export function undirected(text: string): string {
  return text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')
}
