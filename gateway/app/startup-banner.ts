import { publishedPasswords } from '../../config/rules/access-warnings.ts'
import type { Config } from '../../config/types.ts'

/** Addresses that a running gateway listens on. */
export interface ListenAddresses {
  /** Addresses of the SIP listeners, such as `udp/192.0.2.1:5060`. */
  readonly sip: readonly string[]
  /** Base URLs of the HTTP listeners for clients. */
  readonly http: readonly string[]
  /** URL of the metrics; undefined if no listener serves them. */
  readonly metrics?: string
}

/** Pages that the listeners serve. */
export interface ServedPages {
  /** Whether the softphone is built. */
  readonly hasSoftphone: boolean
  /** Whether the documentation is built. */
  readonly hasDocs: boolean
}

/** Maximum number of subscribers and of domains in the text. */
const maxListed = 4

/**
 * Returns the text for a terminal after the start: the addresses to call, the URLs to open, and the people
 * who can sign in. The only passwords in it are the published ones of the examples.
 */
export const startupBanner = (
  { domains, subscribers, log }: Pick<Config, 'domains' | 'subscribers' | 'log'>,
  { sip, http, metrics }: ListenAddresses,
  { hasSoftphone, hasDocs }: ServedPages,
): string => {
  const [plain] = http.filter((url) => url.startsWith('http:'))
  const base = plain ?? http[0]
  const lines: readonly (readonly [label: string, values: readonly string[]])[] = [
    ['SIP', sip.length > 0 ? [sip.join('  ')] : []],
    ['Call', limited(domains.flatMap(({ domain }) => uriToCall(domain, sip) ?? []))],
    ['Softphone', hasSoftphone ? http : []],
    ['Sign in', hasSoftphone && base ? limited(subscribers.map(signInOf)) : []],
    ['REST API', base ? [`${base}api/`] : []],
    ['Docs', base && hasDocs ? [`${base}docs/`] : []],
    ['Metrics', metrics === undefined ? [] : [metrics]],
    ['Log', [`this output, level ${log.level}${log.details ? ' with details' : ''}`]],
    ['Stop', ['Ctrl+C; calls in progress end first']],
  ]
  const shown = lines.flatMap(([label, values]) =>
    values.map((value, at) => `  ${(at === 0 ? label : '').padEnd(11)}${value}`),
  )
  return `\n${shown.join('\n')}\n\n`
}

const limited = (values: readonly string[]): readonly string[] =>
  values.length <= maxListed
    ? values
    : [...values.slice(0, maxListed), `and ${values.length - maxListed} more`]

const defaultPorts: Readonly<Record<string, number>> = { udp: 5060, tcp: 5060, tls: 5061 }

/**
 * Returns the URI that calls a domain at the first listener for phones. It has the port unless every phone
 * assumes it. Returns undefined if there is no such listener.
 */
const uriToCall = (domain: string, sip: readonly string[]): string | undefined => {
  for (const [transport, port] of Object.entries(defaultPorts)) {
    const listener = sip.find((each) => each.startsWith(`${transport}/`))
    if (listener === undefined) continue
    const own = Number(listener.slice(listener.lastIndexOf(':') + 1))
    const parameter = transport === 'udp' ? '' : `;transport=${transport}`
    return `sip:anything@${domain}${own === port ? '' : `:${own}`}${parameter}`
  }
  return undefined
}

const signInOf = ({ email, password, context, name }: Config['subscribers'][number]): string =>
  [
    email,
    ...(publishedPasswords.has(password) ? [`password ${password}`] : []),
    `address /${context}/${name}`,
  ].join('  ')
