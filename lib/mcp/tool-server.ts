import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { VERSION } from '../config/version.ts'
import { ApiError } from '../parts/errors.ts'
import { type AskApi, toApiRequest } from './api-request.ts'
import { toolError, toToolResult } from './tool-result.ts'
import { describeTool, type Tool } from './tools.ts'

/** Before 2025-06-18, a request might hold several messages. */
const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18']

const INSTRUCTIONS =
  'Look-ups of IP addresses, and the usage and sites of whoever owns the API key. Fields without a value are left out. Each call counts towards the limits of the key, as the same request of the API would.'

export interface ToolServerOptions {
  readonly ask: AskApi
  /** Reports a bug, whose message clients do not see. */
  readonly onError: (error: unknown) => void
}

/** A server of the Model Context Protocol for one connection, or one request over HTTP. */
export function createToolServer(
  tools: readonly Tool[],
  { ask, onError }: ToolServerOptions,
): Server {
  const info = { name: 'meridian', title: 'Meridian', version: VERSION }
  const server = new Server(info, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    supportedProtocolVersions: PROTOCOL_VERSIONS,
  })
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(describeTool) }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = tools.find(({ row }) => row.id === params.name)
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}`)
    }
    try {
      const request = toApiRequest(tool.row, params.arguments ?? {})
      return toToolResult(tool.row, await ask(request, mcpReq.signal))
    } catch (error) {
      if (error instanceof ApiError) return toolError(error)
      onError(error)
      return toolError({ code: 'INTERNAL', message: 'Internal error' })
    }
  })
  return server
}
