import { SCOPES, type Scope } from '../contract/operation.ts'

/** The scope that `name` stands for, or undefined. `location:read` is another name of `geo:read`. */
export function parseScope(name: string): Scope | undefined {
  if (name === 'location:read') return 'geo:read'
  return SCOPES.find((scope) => scope === name)
}

/** null stands for all scopes. */
export function hasScope(scopes: readonly Scope[] | null, wanted: Scope): boolean {
  return scopes === null || scopes.includes(wanted)
}

/** The scopes that `names` stand for, each once, in the order in which they are always listed. */
export function toScopes(names: readonly string[]): Scope[] {
  const scopes = new Set(names.map(parseScope))
  return SCOPES.filter((scope) => scopes.has(scope))
}

/** Whether who holds the scopes `own` holds all of `scopes`. null stands for all scopes. */
export function isWithin(scopes: readonly Scope[] | null, own: readonly Scope[] | null): boolean {
  if (own === null) return true
  return scopes?.every((scope) => own.includes(scope)) ?? false
}
