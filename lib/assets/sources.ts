import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { IS_PACKAGE } from '../parts/clone-or-package.ts'
import { hashOf } from './asset.ts'
import { drawTiles } from './near-map.ts'
import { drawWorldMap } from './world-map.ts'

const { resolve } = createRequire(import.meta.url)

let running = 0

/** Omits the version of Meridian: a release that leaves the script unchanged keeps its hash. */
const BANNER = '/*! Meridian (MIT), web-vitals (Apache-2.0) */'

/** How each file for browsers is made. Most are bundled, which takes tens of milliseconds. */
export const SOURCES = {
  'rum.js': bundleScript,
  'site.css': () => bundle('site/site.css', { plugins: [linkFont()] }),
  'geist.woff2': readFont,
  'favicon.svg': () => readFile(new URL('../../web/site/favicon.svg', import.meta.url)),
  'home.js': () => bundle('home/main.tsx'),
  'app.css': () => bundle('app/style/app.css'),
  'app.js': () => bundle('app/main.ts'),
  'batch.js': () => bundle('app/batch/batch.ts'),
  'world-map.svg': drawWorldMap,
  'near-map.json': drawTiles,
  'vitals.js': () => bundle('app/vitals.ts'),
  'usage.js': () => bundle('app/usage.ts'),
  'docs.css': () => bundle('docs/docs.css'),
  'docs.js': () => bundle('docs/main.ts'),
} as const satisfies Record<string, () => Promise<Uint8Array>>

export type SourceName = keyof typeof SOURCES

/** Makes the file, or reads it if this is the npm package, which contains all of them. */
export function makeSource(name: SourceName): Promise<Uint8Array> {
  return IS_PACKAGE ? readFile(new URL(`../../assets/${name}`, import.meta.url)) : SOURCES[name]()
}

/** Bundles a script or style sheet in `web/` with everything it imports. */
export async function bundle(entry: string, options: BuildOptions = {}): Promise<Uint8Array> {
  const { build, stop } = await import('esbuild')
  running += 1
  try {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(`../../web/${entry}`, import.meta.url))],
      bundle: true,
      minify: true,
      format: 'iife',
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'hono/jsx/dom',
      tsconfigRaw: {},
      logLevel: 'silent',
      ...options,
      write: false,
    })
    return Buffer.concat(outputFiles.map(({ contents }) => contents))
  } finally {
    running -= 1
    // Ends the esbuild process.
    if (running === 0) await stop()
  }
}

function readFont(): Promise<Uint8Array> {
  return readFile(resolve('@fontsource-variable/geist/files/geist-latin-wght-normal.woff2'))
}

/** The style sheet names the font without the hash that the address of the asset has. */
function linkFont(): Plugin {
  return {
    name: 'font',
    setup: ({ onResolve }) => {
      onResolve({ filter: /\.woff2$/ }, async ({ path }) => ({
        path: path.replace('.woff2', `.${hashOf(await readFont())}.woff2`),
        external: true,
      }))
    },
  }
}

/** The script that measures pages. */
function bundleScript(): Promise<Uint8Array> {
  return bundle('rum/main.ts', {
    target: 'es2020',
    // Browsers with PerformanceNavigationTiming and ES2020 support class fields. Saves 100 bytes.
    supported: { 'class-field': true },
    banner: { js: BANNER },
  })
}
