import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { AskApi } from '../lib/mcp/api-request.ts'
import { createToolServer } from '../lib/mcp/tool-server.ts'
import { TOOLS, type Tool } from '../lib/mcp/tools.ts'
import { usageText } from '../lib/parts/clone-or-package.ts'
import { ApiError } from '../lib/parts/errors.ts'
import { fetchReasonOf, reasonOf } from '../lib/parts/reason.ts'
import { openOwnDatabases } from './mcp/own-databases.ts'
import { readArguments } from './parts/options.ts'
import { report, run } from './parts/run.ts'
import { SERVER_OPTIONS, SERVER_USAGE, type Server, toServer } from './parts/server-options.ts'

const TIMEOUT_MS = 30_000

const USAGE = `Usage: ${usageText('mcp', '[options]')}
Serves assistants that speak the Model Context Protocol on stdin and stdout: they start this command.
Without a server it looks up addresses in the databases here, which needs no key.

${SERVER_USAGE}`

await run(async () => {
  const { values } = readArguments({ options: SERVER_OPTIONS }, USAGE)
  const server = toServer(values, USAGE)
  if (server === undefined) {
    using databases = await openOwnDatabases()
    await serve(databases.tools, databases.ask)
  } else await serve(TOOLS, askServer(server))
})

/** Returns when the client closes stdin. */
async function serve(tools: readonly Tool[], ask: AskApi): Promise<void> {
  const closed = Promise.withResolvers<void>()
  const onError = (error: unknown) => report(reasonOf(error))
  const { close } = serveStdio(() => createToolServer(tools, { ask, onError }), {
    maxSubscriptions: 0,
    onerror: onError,
  })
  process.stdin.once('end', closed.resolve).once('close', closed.resolve)
  await closed.promise
  await close()
}

/** Sends requests to the API of a server, with the key. */
function askServer({ url, key }: Server): AskApi {
  return async ({ row, path, body }, signal) => {
    const sent = {
      method: row.method.toUpperCase(),
      headers: {
        'x-api-key': key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A redirect could take the key elsewhere.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    } as const
    const response = await fetch(`${url}${path}`, sent).catch((error) => {
      throw new ApiError('SERVICE_UNAVAILABLE', `Cannot reach ${url}: ${fetchReasonOf(error)}`)
    })
    return { status: response.status, text: await response.text() }
  }
}
