import type { Server } from '../parts/server-options.ts'
import { openOwnSource } from './own-source.ts'
import { openServerSource } from './server-source.ts'
import type { AskedOfList, Source } from './source.ts'

/** `server`: undefined for the databases here. */
export async function openSource(server: Server | undefined, asked: AskedOfList): Promise<Source> {
  return server === undefined ? openOwnSource(asked) : openServerSource(server, asked)
}
