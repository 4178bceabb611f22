import { nameControls } from './name-controls.ts'
import { LAYOUT, plugin } from './plugin.ts'

/** The global function that the script of swagger-ui-dist defines. */
declare const SwaggerUIBundle: (options: object) => unknown

interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly parameters?: unknown }>>
}

/** Replaces the list of operations with Swagger UI. */
async function main(root: HTMLElement): Promise<void> {
  const { base = '' } = root.dataset
  const response = await fetch(`${base}/.well-known/openapi.json`)
  if (!response.ok) return
  const openApi: OpenApi = await response.json()
  nameControls(root)
  SwaggerUIBundle({
    spec: toSpec(openApi, base),
    domNode: root,
    plugins: [plugin],
    layout: LAYOUT,
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: -1,
    docExpansion: 'list',
    tryItOutEnabled: true,
    syntaxHighlight: { activated: false },
    validatorUrl: null,
  })
}

/**
 * Points requests at the origin of the page, the only one that the Content-Security-Policy allows.
 * Drops the request id, which every operation takes, because nobody fills it in by hand.
 */
function toSpec(openApi: OpenApi, base: string): object {
  const paths = Object.entries(openApi.paths).map(([path, { parameters: _, ...item }]) => [
    path,
    item,
  ])
  const servers = [{ url: `${location.origin}${base}` }]
  return { ...openApi, servers, paths: Object.fromEntries(paths) }
}

const root = document.querySelector<HTMLElement>('#reference')
if (root !== null) void main(root)
