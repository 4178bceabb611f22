import type { Field, Shape } from '../../lib/openapi/fields.ts'
import { headText } from '../table.tsx'
import { contents } from './contents.ts'
import type { OperationText, ReplyText } from './describe.ts'
import { unexplained } from './field-list.tsx'
import type { Block } from './guides/block.ts'
import type { GuideText } from './guides/guides.ts'

/** The page of an operation as Markdown, for language models. */
export function operationMarkdown(text: OperationText, url: string): string {
  const { row, access, limits, parameters, body, replies, errors, samples } = text
  return joined([
    `# ${row.summary}`,
    `\`${row.method.toUpperCase()} ${row.path}\``,
    row.description ?? '',
    listOf([`Access: ${access}`, `Limit: ${limits.join('; ')}`, `Id: \`${row.id}\``]),
    parameters.length === 0 ? '' : `## Parameters\n\n${fieldList(parameters)}`,
    body === null ? '' : `## Body\n\n${shapeList(body.shapes)}`,
    '## Answers',
    ...replies.map(replyMarkdown),
    `## Errors\n\nSee [errors](${url}/docs/guides/errors.md).`,
    listOf(errors.map(({ status, code, meaning }) => `${status} \`${code}\`: ${meaning}`)),
    ...samples
      .filter(({ language }) => language === 'curl')
      .map(({ text: sample }) => `## Request\n\n${fenced(sample, 'sh')}`),
  ])
}

export function guideMarkdown({ title, blocks }: GuideText, url: string): string {
  return joined([`# ${title}`, ...blocks.map((block) => withLinks(blockMarkdown(block), url))])
}

/** The index of the Markdown pages, in the form of llmstxt.org. */
export function llmsText(url: string): string {
  const groups = contents().map(({ title, entries }) => {
    const lines = entries.map(({ path, title: name, about, call }) => {
      const what = call === undefined ? about : `\`${call.method.toUpperCase()} ${call.path}\``
      return `[${name}](${url}${path}.md): ${what}`
    })
    return `## ${title}\n\n${listOf(lines)}`
  })
  return joined([
    '# Meridian',
    '> IP geolocation with accounts, API keys, billing and browser telemetry.',
    `All of the API as one [OpenAPI 3.1 document](${url}/.well-known/openapi.json). Some operations are tools of the Model Context Protocol at ${url}/mcp.`,
    ...groups,
  ])
}

function replyMarkdown({ status, description, type, shapes, example }: ReplyText): string {
  return joined([
    `### ${status}`,
    `${description}${type === '' ? '' : ` (${type})`}`,
    shapeList(shapes),
    example === '' ? '' : fenced(example, 'json'),
  ]).trimEnd()
}

function blockMarkdown(block: Block): string {
  if (typeof block === 'string') return block
  if ('heading' in block) return `## ${block.heading}`
  if ('code' in block) return fenced(block.code)
  if ('fields' in block) return fieldList(block.fields)
  if ('list' in block) return listOf(block.list)
  const rows = [block.heads.map(headText), block.heads.map(() => '---'), ...block.rows]
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Fields as nested lists. */
function fieldList(fields: readonly Field[], indent = ''): string {
  return fields
    .map((field) => {
      const type = [field.type, ...field.rules, ...(field.isRequired ? ['required'] : [])]
      const values = unexplained(field).map((value) => `\`${value}\``)
      const says = [
        field.description.replaceAll(/\n(?=.)/g, `\n${indent}  `),
        values.length === 0 ? '' : `One of ${values.join(', ')}`,
      ].filter(Boolean)
      const inner = shapeList(field.shapes, `${indent}  `)
      const meaning = says.length === 0 ? '' : `: ${says.join('. ')}`
      const line = `${indent}- \`${field.name}\` (${type.join('; ')})${meaning}`
      return inner === '' ? line : `${line}\n${inner}`
    })
    .join('\n')
}

function shapeList(shapes: readonly Shape[], indent = ''): string {
  return shapes.map(({ fields }) => fieldList(fields, indent)).join('\n')
}

function listOf(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n')
}

function fenced(text: string, language = ''): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

/** Makes links absolute, and those to pages of the reference to their Markdown. */
function withLinks(text: string, url: string): string {
  return text.replaceAll(/\]\((\/[^)]*)\)/g, (_, path: string) =>
    path.startsWith('/docs/') ? `](${url}${path}.md)` : `](${url}${path})`,
  )
}

function joined(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}
