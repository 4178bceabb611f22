import * as v from 'valibot'

/** Where the free lists come from: `owners`, `none`, or the URL of a mirror. Becomes null for `none`. */
export const ListSource = v.pipe(
  v.string(),
  v.check(
    (text) => text === 'owners' || text === 'none' || isHttpUrl(text),
    'must be owners, none, or an http or https URL',
  ),
  v.transform((text) => {
    if (text === 'none') return null
    return { mirror: text === 'owners' ? undefined : text.replace(/\/+$/, '') }
  }),
)

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/?#]+[^?#]*$/.test(text) && URL.canParse(text)
}
