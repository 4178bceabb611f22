import { MCP_PATH } from '../../../lib/contract/pages.ts'
import type { Block, GuideFacts } from './block.ts'

export function assistantGuide({ url, tools }: GuideFacts): Block[] {
  return [
    'Assistants that speak the Model Context Protocol can look up addresses, and read the usage and the sites of the user. Each tool is an operation of the API: it takes the same values, needs the same scope, counts towards the same limits and answers the same.',
    {
      heads: ['Tool', 'What it is for'],
      rows: tools.map(({ row: { id }, about }) => [`[${id}](/docs/operations/${id})`, about]),
    },
    { heading: 'Over HTTP' },
    'Most clients read a file such as this one. Some name its outer field `servers`.',
    {
      code: configuration({
        type: 'http',
        url: `${url}${MCP_PATH}`,
        headers: { Authorization: 'Bearer YOUR_API_KEY' },
      }),
    },
    'The transport is streamable HTTP, without sessions, streams and batches. Without a key, clients can list the tools; a call is answered with 401. Pages of other origins are refused.',
    { heading: 'Over stdio' },
    'For clients that start a program, where the npm package of this service is installed:',
    {
      code: configuration({
        command: 'npx',
        args: ['meridian', 'mcp'],
        env: { MERIDIAN_URL: url, MERIDIAN_KEY: 'YOUR_API_KEY' },
      }),
    },
    'In a clone, the command is `npm` with `run`, `--silent` and `mcp`. Without these variables, the program looks up addresses in its own databases, and has no tools for usage and sites.',
    { heading: 'Keys' },
    'Give each assistant a key of its own, so that you see what it uses, and can revoke it. The scope `geo:read` is enough for look-ups; usage and sites need `account:read`.',
    { heading: 'Errors' },
    'An [error](/docs/guides/errors) of the API is one of the tool: the text begins with its code, such as `RATE_LIMITED`, and the message follows.',
  ]
}

/** A file of settings as most clients read it. */
function configuration(server: object): string {
  return JSON.stringify({ mcpServers: { meridian: server } }, null, 2)
}
