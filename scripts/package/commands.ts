interface Command {
  readonly about: string
  /** Loads the file that runs the command. */
  readonly load: () => Promise<unknown>
}

/** The commands of the npm package. Those for developers of Meridian need a clone. */
export const COMMANDS = {
  start: { about: 'start the server', load: () => import('../../server.ts') },
  key: { about: 'make, list, renew, rotate and revoke API keys', load: () => import('../key.ts') },
  user: {
    about: 'plans, roles, passwords and deletion of users',
    load: () => import('../user.ts'),
  },
  locate: {
    about: 'look up a list of addresses',
    load: () => import('../address-lists/locate.ts'),
  },
  summarize: {
    about: 'count a list of addresses by place and network',
    load: () => import('../address-lists/summarize.ts'),
  },
  map: {
    about: 'draw a list of addresses on a map',
    load: () => import('../address-lists/map.ts'),
  },
  accuracy: {
    about: 'measure how often answers are right',
    load: () => import('../accuracy/main.ts'),
  },
  grepip: { about: 'find addresses in any text', load: () => import('../address-lists/grepip.ts') },
  mcp: { about: 'serve assistants over stdio', load: () => import('../mcp.ts') },
  geo: { about: 'prepare, download and list databases', load: () => import('../geo.ts') },
  doctor: { about: 'check everything that a server needs', load: () => import('../doctor.ts') },
  backup: { about: 'write an archive of all data', load: () => import('../backup.ts') },
  restore: { about: 'restore an archive', load: () => import('../restore.ts') },
  import: { about: 'copy a database file to PostgreSQL', load: () => import('../move/import.ts') },
  export: { about: 'copy PostgreSQL to a database file', load: () => import('../move/export.ts') },
  migrate: { about: 'update the database, or try that', load: () => import('../migrate.ts') },
  billing: { about: 'compare subscriptions with Stripe', load: () => import('../billing.ts') },
  contact: { about: 'list, retry and remove inquiries', load: () => import('../contact.ts') },
  openapi: { about: 'print the OpenAPI document', load: () => import('../openapi.ts') },
} as const satisfies Readonly<Record<string, Command>>

export type CommandName = keyof typeof COMMANDS

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name)
}
