type Change = '' | Readonly<Record<string, string>>

/** Stripe's rule: names that are not told stay, an empty value takes one away, '' takes all. */
export function mergeMetadata(
  old: Readonly<Record<string, string>>,
  change: Change | undefined,
): Record<string, string> {
  if (change === undefined) return { ...old }
  if (change === '') return {}
  const merged = Object.entries({ ...old, ...change }).filter(([, value]) => value !== '')
  return Object.fromEntries(merged)
}
