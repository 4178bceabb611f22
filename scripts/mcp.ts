import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { SendApi } from '../lib/mcp/api-request.ts'
import { createToolServer } from '../lib/mcp/tool-server.ts'
import { TOOLS, type Tool } from '../lib/mcp/tools.ts'
import { usageText } from '../lib/own-code.ts'
import { reasonOf } from '../lib/reason.ts'
import { openOwnDatabases } from './mcp/own-databases.ts'
import { readServer, sendTo } from './mcp/server.ts'
import { readArguments, TEXT } from './parts/options.ts'
import { report, run } from './parts/run.ts'

const USAGE = `Usage: ${usageText('mcp', '[options]')}
Serves assistants that speak the Model Context Protocol on stdin and stdout: they start this command.
Without a server it looks up addresses in the databases here, which needs no key.
  --url URL  a server to ask; default: MERIDIAN_URL in the environment, if it is set
  --key KEY  an API key of the server; better: MERIDIAN_KEY in the environment, because other users
             of this machine can see command lines
  --help     show this
`

await run(async () => {
  const { values } = readArguments({ options: { url: TEXT, key: TEXT } }, USAGE)
  const server = readServer(values, process.env, USAGE)
  if (server === null) {
    using databases = await openOwnDatabases()
    await serve(databases.tools, databases.send)
  } else await serve(TOOLS, sendTo(server))
})

/** Returns when the client closes stdin. */
async function serve(tools: readonly Tool[], send: SendApi): Promise<void> {
  const closed = Promise.withResolvers<void>()
  const onError = (error: unknown) => report(reasonOf(error))
  const { close } = serveStdio(() => createToolServer(tools, { send, onError }), {
    maxSubscriptions: 0,
    onerror: onError,
  })
  process.stdin.once('end', closed.resolve).once('close', closed.resolve)
  await closed.promise
  await close()
}
