import type { Operation, Tag } from '../../../lib/contract/operation.ts'
import { operations } from '../../../lib/contract/operations.ts'

/** An operation by the name that developers know: its method and path. */
export interface Endpoint {
  readonly id: string
  readonly name: string
  readonly tag: Tag
}

const rows: readonly Operation[] = operations

/** All endpoints whose requests are counted: those that need a key or a session. */
export const ENDPOINTS: readonly Endpoint[] = rows
  .filter(({ access }) => access !== 'public')
  .map(({ id, method, path, tag }) => ({ id, name: `${method.toUpperCase()} ${path}`, tag }))

/** The id itself if an earlier version had the operation. */
export function endpointName(operation: string): string {
  return ENDPOINTS.find(({ id }) => id === operation)?.name ?? operation
}
