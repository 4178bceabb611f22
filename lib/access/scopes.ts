import { SCOPES, type Scope } from '../contract/operation.ts'

/** The scope named `name`; undefined if unknown. `location:read` means `geo:read`. */
export function parseScope(name: string): Scope | undefined {
  if (name === 'location:read') return 'geo:read'
  return SCOPES.find((scope) => scope === name)
}

/** `scopes` null means all scopes. */
export function hasScope(scopes: readonly Scope[] | null, wanted: Scope): boolean {
  return scopes === null || scopes.includes(wanted)
}

/** The scopes named `names`, each once, in the order of the contract. */
export function toScopes(names: readonly string[]): Scope[] {
  const scopes = new Set(names.map(parseScope))
  return SCOPES.filter((scope) => scopes.has(scope))
}

/** Whether `own` includes all of `scopes`. null means all scopes. */
export function isWithin(scopes: readonly Scope[] | null, own: readonly Scope[] | null): boolean {
  if (own === null) return true
  return scopes?.every((scope) => own.includes(scope)) ?? false
}
