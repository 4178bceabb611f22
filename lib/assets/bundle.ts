import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'

let running = 0

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
