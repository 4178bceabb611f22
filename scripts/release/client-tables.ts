import {
  NOT_UNICAST,
  REGISTRIES_DATE,
  SPECIAL_PURPOSE,
} from '../../lib/parts/net/special-purpose.ts'

const ABOUT =
  'Special-purpose networks, and whether hosts on the Internet may have their addresses.'
const SOURCE = `From IANA's registries of ${REGISTRIES_DATE}; the narrowest network counts.`
const ROWS = [...SPECIAL_PURPOSE, ...NOT_UNICAST]

/** The table of special-purpose networks for each of the clients, by the path of its file. */
export const CLIENT_TABLES: Readonly<Record<string, string>> = {
  'typescript/src/generated/special-purpose.ts': `/**
 * ${ABOUT}
 * ${SOURCE}
 */
export const SPECIAL_PURPOSE: readonly (readonly [network: string, isPublic: boolean])[] = [
${linesOf((network, isPublic) => `  ['${network}', ${isPublic}],`)}
]
`,
  'go/generated/special_purpose.go': `package generated

// SpecialPurpose: ${ABOUT}
// ${SOURCE}
var SpecialPurpose = []struct {
	Network  string
	IsPublic bool
}{
${linesOf((network, isPublic) => `\t{"${network}", ${isPublic}},`)}
}
`,
  'python/src/meridian_client/generated/special_purpose.py': `"""${ABOUT}

${SOURCE}
"""

SPECIAL_PURPOSE = (
${linesOf((network, isPublic) => `    ("${network}", ${isPublic ? 'True' : 'False'}),`)}
)
`,
}

function linesOf(toLine: (network: string, isPublic: boolean) => string): string {
  return ROWS.map(([network, reachable]) => toLine(network, reachable !== false)).join('\n')
}
