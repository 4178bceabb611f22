import type { Ask } from '../../../lib/address-lists/blocks/blocks.ts'
import type { AnswerOptions } from '../../../lib/geo/answer/shape.ts'

/**
 * Where answers come from: the databases here, or a server. From the same databases both give the same
 * answers.
 */
export interface Source extends Disposable {
  /**
   * The answer to each text, in order and in JSON: a GeolocationResult whose `meta` has only `precision`,
   * and `degraded` if the result is degraded; or an error if the text is not an address.
   */
  readonly answersTo: (texts: readonly string[]) => Promise<Iterable<string>>
  /** The same with `network.prefix`, for addresses that are parts of blocks. */
  readonly ask: Ask
  /** How many parts a block may have: those of a server count as requests. */
  readonly mostParts: number
}

/** What a list can ask of its answers. */
export type ListAnswerOptions = Pick<AnswerOptions, 'include' | 'lang'>

export function withPrefix(options: ListAnswerOptions): ListAnswerOptions {
  return { ...options, include: [...new Set([...(options.include ?? []), 'network' as const])] }
}
