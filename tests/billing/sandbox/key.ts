/** Returns the key; null if there is none. Throws for a key that is not of test mode, without showing it. */
export function readTestKey(text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  if (/^sk_test_\w+$/.test(text)) return text
  throw new Error('STRIPE_TEST_KEY must be a secret key of a sandbox, which begins with sk_test_')
}
