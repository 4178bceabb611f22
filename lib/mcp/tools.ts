import type { JsonSchema } from '@valibot/to-json-schema'
import { namesOfList } from '../contract/common.ts'
import type { Operation } from '../contract/operation.ts'
import { type OperationId, operations } from '../contract/operations.ts'
import { toWholeSchema } from '../openapi/schemas.ts'

/** A tool: one operation of the API, whose id is the tool's name. */
export interface Tool {
  readonly row: Operation
  /** The purpose of the tool. Assistants choose a tool by this text. */
  readonly about: string
}

/** What each tool is for. All of them only read. */
const ABOUT = {
  locateAddress:
    'Where an IPv4 or IPv6 address is: country, region, city, coordinates and timezone, and which network it belongs to. accuracyRadius is in miles.',
  summarizeAddresses:
    'Where many addresses are: how many of them are in which country, region, city and network.',
  getAutonomousSystem:
    'Who runs an autonomous system, how large it is, in which countries, and which prefixes it has.',
  getUsage: 'How many requests the user of the API key has made and may make, by day and by key.',
  getRumOverview:
    "How fast a site of the user is for its visitors: Web Vitals by page, device and country, and its pages' errors. Times are in milliseconds.",
} as const satisfies Partial<Record<OperationId, string>>

type ToolName = keyof typeof ABOUT

export const TOOLS: readonly Tool[] = operations.flatMap((row: Operation) =>
  isTool(row.id) ? [{ row, about: ABOUT[row.id] }] : [],
)

function isTool(id: string): id is ToolName {
  return Object.hasOwn(ABOUT, id)
}

/**
 * The tool as clients of the Model Context Protocol list it. It has no schema of its answer: clients
 * would then refuse an answer with a field that a newer server has added.
 */
export function describeTool({ row, about }: Tool) {
  return {
    name: row.id,
    title: row.summary,
    description: row.description === undefined ? about : `${about} ${row.description}`,
    inputSchema: inputSchema(row),
    annotations: { readOnlyHint: true, openWorldHint: false },
  }
}

/** One flat object of what the operation takes in its path, its query and its body. */
function inputSchema({ params = {}, query, body }: Operation) {
  const inPath = Object.entries(params).map(([name, { description, schema }]) => {
    const rules: JsonSchema = schema === undefined ? { type: 'string' } : toWholeSchema(schema)
    return [name, { ...rules, description }] as const
  })
  const others = [query, body?.schema].map((schema) =>
    schema === undefined ? {} : withLists(toWholeSchema(schema)),
  )
  return {
    type: 'object' as const,
    properties: Object.assign(
      Object.fromEntries(inPath),
      ...others.map(({ properties }) => properties),
    ),
    required: [...Object.keys(params), ...others.flatMap(({ required = [] }) => required)],
    additionalProperties: false,
  }
}

/** A text that is a list becomes a list: its pattern would fill the context of each assistant. */
function withLists({ properties = {}, ...schema }: JsonSchema): JsonSchema {
  const shown = Object.entries(properties).map(([name, rules]) => {
    const names = typeof rules === 'object' ? namesOfList(rules.pattern) : undefined
    if (names === undefined || typeof rules !== 'object') return [name, rules] as const
    const { description } = rules
    return [name, { type: 'array', items: { enum: names }, description }] as const
  })
  return { ...schema, properties: Object.fromEntries(shown) }
}
