import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server'
import * as v from 'valibot'
import { VERSION } from '../config/version.ts'
import { ApiErrorBody } from '../contract/common.ts'
import type { Operation } from '../contract/operation.ts'
import { ApiError } from '../parts/errors.ts'
import { type ApiAnswer, type AskApi, toApiRequest } from './api-request.ts'
import { describeTool, type Tool } from './tools.ts'

/** A newer server may have codes that are not known here. */
const LooseError = v.object({
  error: v.object({ ...ApiErrorBody.entries.error.entries, code: v.string() }),
})

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

/** Turns an answer of the API into that of a tool: text for assistants, and the same as JSON. */
function toToolResult(row: Operation, { status, text }: ApiAnswer): CallToolResult {
  const body = parseObject(text)
  const error = v.safeParse(LooseError, body)
  if (error.success) return toolError(error.output.error)
  // A 404 may also be an answer, for an address that no database knows.
  if (body === undefined || row.replies[status] === undefined) {
    const message = `The server answered ${status}, and not as this API does`
    return toolError({ code: 'SERVICE_UNAVAILABLE', message })
  }
  return { content: [{ type: 'text', text }], structuredContent: body }
}

interface ToolError {
  readonly code: string
  readonly message: string
  readonly field?: string | undefined
}

function toolError({ code, message, field }: ToolError): CallToolResult {
  return {
    content: [{ type: 'text', text: `${code}: ${message}` }],
    structuredContent: { error: { code, message, ...(field !== undefined && { field }) } },
    isError: true,
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return v.is(v.record(v.string(), v.unknown()), value) ? value : undefined
  } catch {
    return undefined
  }
}
