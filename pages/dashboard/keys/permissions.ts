import type { Scope } from '../../../lib/contract/operation.ts'

interface Preset {
  readonly name: string
  readonly text: string
  /** null: full access. */
  readonly scopes: readonly Scope[] | null
}

/** What most keys may do. The first is the one that a new key gets unless its owner chooses another. */
export const PRESETS = {
  'look-ups': {
    name: 'Look-ups only',
    text: 'Looks up addresses. Whoever finds the key cannot read or change your account.',
    scopes: ['geo:read'],
  },
  read: {
    name: 'Read account',
    text: 'Also reads keys, sites, usage, measurements, the audit log and invoices. Changes nothing.',
    scopes: ['geo:read', 'account:read', 'billing:read'],
  },
  full: {
    name: 'Full access',
    text: 'May do everything that you may, also change your plan.',
    scopes: null,
  },
} as const satisfies Readonly<Record<string, Preset>>

/** What a new secret key may do: a preset, or `custom`, the scopes of a list. */
export type Access = keyof typeof PRESETS | 'custom'

export function isAccess(text: string): text is Access {
  return text === 'custom' || Object.hasOwn(PRESETS, text)
}

/** The name of the preset, or the scopes. */
export function permissionsText(scopes: readonly string[] | null): string {
  const key = textOf(scopes)
  const preset = Object.values(PRESETS).find((one) => textOf(one.scopes) === key)
  return preset?.name ?? key
}

function textOf(scopes: readonly string[] | null): string {
  return scopes === null ? '' : scopes.toSorted().join(', ')
}
