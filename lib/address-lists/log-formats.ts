import type { Corrections } from './form.ts'

/** What IIS logs unless told otherwise: https://learn.microsoft.com/iis/configuration/system.applicationhost/sites/sitedefaults/logfile */
const IIS_FIELDS =
  'date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken'

/** Logs that are written in one way, by the name of the program, and where they have the client's address. */
export const LOG_FORMATS: Readonly<Record<string, Corrections>> = {
  apache: { kind: 'lines', column: null },
  caddy: { kind: 'json', names: ['request.client_ip', 'request.remote_ip', 'request.remote_addr'] },
  cloudfront: { kind: 'tab', names: ['c-ip'] },
  iis: { kind: 'space', names: ['c-ip'], fields: IIS_FIELDS.split(' ') },
  nginx: { kind: 'lines', column: null },
  w3c: { names: ['c-ip'] },
}
