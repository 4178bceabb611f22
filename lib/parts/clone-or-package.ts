/**
 * Whether this runs from the npm package, which contains compiled JavaScript, and not from a clone with
 * its TypeScript.
 */
export const IS_PACKAGE = import.meta.url.endsWith('.js')

/** The address of one of our files of code, named without its extension, relative to `base`. */
export function codeUrl(path: string, base: string): URL {
  return new URL(`${path}.${IS_PACKAGE ? 'js' : 'ts'}`, base)
}

/** How users run one of our commands, such as `npm run user -- --plan pro`. */
export function commandText(name: string, options = ''): string {
  const text = IS_PACKAGE ? `npx meridian ${name} ${options}` : `npm run ${name} -- ${options}`
  return options === '' ? text.replace(/( --)? $/, '') : text
}

/** Like `commandText`, for a usage text: with `--silent`, npm prints nothing into redirected output. */
export function usageText(name: string, options: string): string {
  return commandText(name, options).replace(/^npm run /, 'npm run --silent ')
}
