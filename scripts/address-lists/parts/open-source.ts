import type { Server } from '../../parts/server-options.ts'
import { openOwnSource } from './own-source.ts'
import { openServerSource } from './server-source.ts'
import type { ListAnswerOptions, Source } from './source.ts'

/** `server`: undefined for the databases here. */
export async function openSource(
  server: Server | undefined,
  answerOptions: ListAnswerOptions,
): Promise<Source> {
  return server === undefined
    ? openOwnSource(answerOptions)
    : openServerSource(server, answerOptions)
}
