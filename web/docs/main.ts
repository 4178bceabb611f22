import { nameControls } from './name-controls.ts'
import { LAYOUT, plugin } from './plugin.ts'

/** What the script of swagger-ui-dist leaves behind. */
declare const SwaggerUIBundle: (options: object) => unknown

interface OpenApi {
  readonly paths: Readonly<Record<string, PathItem>>
}

interface PathItem {
  readonly parameters?: unknown
}

/** Puts the reference that can be tried in the place of the list of operations. */
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
 * Requests go where the page comes from, by whatever name that is: nothing else is allowed. What
 * all operations take is the id of the request, which nobody wants to fill in by hand.
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
