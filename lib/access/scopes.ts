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
