import type { Operation, Tag } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'

export const GUIDES = [
  {
    name: 'authentication',
    title: 'Authentication',
    about: 'How to send a key, which type to choose, and what scopes allow.',
  },
  { name: 'errors', title: 'Errors', about: 'The form of an error, every code, and what to do.' },
  {
    name: 'limits',
    title: 'Limits',
    about: 'Requests per minute and per month, and what happens above them.',
  },
  {
    name: 'fields',
    title: 'Fields',
    about: 'Ask for less or more, in other languages; how sure an answer is.',
  },
  {
    name: 'batches',
    title: 'Batches',
    about: 'Many addresses with one request, and what they cost.',
  },
  {
    name: 'assistants',
    title: 'Assistants (MCP)',
    about: 'Let assistants look up addresses and read usage.',
  },
] as const
export type GuideName = (typeof GUIDES)[number]['name']

/** What most readers look for comes first. */
const TAGS: readonly Tag[] = ['Geolocation', 'Account', 'Billing', 'Telemetry', 'Contact', 'System']

/** A page of the reference, as lists of pages show it. */
export interface Entry {
  /** Below the base path of the service. */
  readonly path: string
  readonly title: string
  /** What a guide is about, in a sentence. */
  readonly about?: string
  /** The method and path of an operation. */
  readonly call?: Pick<Operation, 'method' | 'path'>
}

export interface Group {
  readonly title: 'Guides' | Tag
  readonly entries: readonly Entry[]
}

/** All pages of the reference except its first, in order. */
export function contents(): Group[] {
  const rows: readonly Operation[] = operations
  const guides = GUIDES.map(({ name, ...guide }) => ({ path: guidePath(name), ...guide }))
  const byTag = TAGS.map((title) => ({
    title,
    entries: rows
      .filter(({ tag }) => tag === title)
      .map((row) => ({ path: operationPath(row), title: row.summary, call: row })),
  }))
  return [{ title: 'Guides', entries: guides }, ...byTag]
}

export function operationPath({ id }: Pick<Operation, 'id'>): string {
  return `/docs/operations/${id}`
}

export function guidePath(name: GuideName): string {
  return `/docs/guides/${name}`
}
