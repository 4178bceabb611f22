import type { Operation } from '../../lib/contract/operation.ts'

/** The path of the operation with examples of its parameters; an id is one that nobody has. */
export function examplePath({ path }: Pick<Operation, 'path'>): string {
  return path
    .replace('{ipAddress}', '81.2.69.160')
    .replace('{asn}', 'AS20712')
    .replaceAll(/\{\w+\}/g, 'some')
}
