import manifest from '../../package.json' with { type: 'json' }

/** Version of this release. */
export const VERSION: string = manifest.version

/** Version of the API contract. */
export const INTERFACE_VERSION = '1.27.1'
