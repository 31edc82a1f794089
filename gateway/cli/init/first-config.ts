import { isIPv6 } from 'node:net'

/** Values that `trunkline init` writes into a first configuration. */
export interface FirstConfig {
  /** IP address for phones, carriers and browsers. */
  readonly host: string
  /** Whether an interface of this machine has `host`; otherwise the gateway is behind NAT. */
  readonly isHostLocal: boolean
  /** Folder for the store, keys and the self-signed certificate; relative to the file, or absolute. */
  readonly dataDir: string
  readonly domain: string
  /** Networks of carriers. */
  readonly carriers: readonly string[]
  readonly email: string
  readonly passwordHash: string
  /** Token, or a reference to an environment variable. */
  readonly apiToken: string
  readonly ports: {
    readonly sip: number
    readonly plain: number
    readonly tls: number
    readonly media: number
  }
}

/** Returns the name of a person in the address `/public/name`: the local part of the e-mail address. */
export const nameOf = (email: string): string => email.slice(0, email.indexOf('@'))

/** Project of a first configuration: the user name of the API. */
export const firstProject = 'main'

/** Returns the text of a first configuration. Every value of the user is a quoted YAML text. */
export const firstConfigText = (config: FirstConfig): string =>
  [
    ...head(config),
    ...sipLines(config),
    ...mediaLines(config),
    ...httpLines(config),
    ...people(config),
    '',
  ].join('\n')

const text = (value: string): string => JSON.stringify(value)

const head = ({ dataDir }: FirstConfig): readonly string[] => [
  '# Configuration of Trunkline, written by `trunkline init`. Keys that are absent have defaults;',
  '# docs/configuration.md describes all keys. `trunkline check` finds mistakes.',
  '',
  `project: ${firstProject} # owner of the entries below; user name of the API`,
  `dataDir: ${text(dataDir)} # folder for the store, keys and the self-signed certificate`,
  '',
]

/** Returns the local addresses for SIP. A listener of IPv6 receives nothing by IPv4. */
const sipAddresses = ({ host, isHostLocal }: FirstConfig): readonly string[] => {
  if (!isIPv6(host)) return ['0.0.0.0']
  // A public address in `announce` would stand in the messages of IPv4, too.
  return isHostLocal ? ['::', '0.0.0.0'] : ['::']
}

const sipLines = (config: FirstConfig): readonly string[] => [
  'sip:',
  '  listen:',
  ...sipAddresses(config).flatMap((address) =>
    ['udp', 'tcp'].map(
      (transport) =>
        `    - { transport: ${transport}, address: ${text(address)}, port: ${config.ports.sip} }`,
    ),
  ),
  ...(config.isHostLocal
    ? []
    : [`  announce: ${text(config.host)} # public address, as this machine is behind NAT`]),
  '',
  ...domainLines(config),
]

const domainLines = ({ host, domain, carriers, email }: FirstConfig): readonly string[] => [
  'domains: # hosts that callers dial, and the handler of their calls',
  `  - domain: ${text(domain)}`,
  '    allow: &allowed # networks that may send calls',
  ...carriers.map((network) => `      - ${text(network)} # carrier`),
  ...(carriers.length === 0 ? ['      # - 203.0.113.0/24 # the networks of your carrier'] : []),
  '      - 127.0.0.0/8 # this machine',
  '      - 10.0.0.0/8 # private networks, for phones of your own',
  '      - 172.16.0.0/12',
  '      - 192.168.0.0/16',
  ...(isIPv6(host) ? ['      - ::1/128', '      - fc00::/7'] : []),
  '    handler: &welcome # docs/script.md describes every instruction',
  '      kind: script',
  '      document:',
  '        version: 1.0.0',
  '        sections:',
  '          main:',
  '            - play: { url: "say:Welcome." }',
  `            - connect: { to: ${text(`/public/${nameOf(email)}`)}, timeout: 30 }`,
  ...(domain === host ? [] : [`  - { domain: ${text(host)}, allow: *allowed, handler: *welcome }`]),
  '',
]

const mediaLines = ({ host, isHostLocal, ports }: FirstConfig): readonly string[] => [
  'media:',
  '  # Carriers and phones send audio to the UDP ports 20000 to 29999: open them in the firewall.',
  ...(isHostLocal ? [] : [`  rtp: { announce: ${text(host)} }`]),
  '  # Browsers use one port for UDP and TCP.',
  `  webrtc: { port: ${ports.media}${isHostLocal ? '' : `, announce: [${text(host)}]`} }`,
  '',
]

const httpLines = ({ host, domain, apiToken, ports }: FirstConfig): readonly string[] => {
  const hosts = [...new Set(['localhost', domain, host])].map(text).join(', ')
  return [
    'http:',
    `  plain: { address: 127.0.0.1, port: ${ports.plain} } # HTTP for this machine`,
    '  tls: # HTTPS for browsers; without certificate and key, the certificate is self-signed',
    `    address: ${isIPv6(host) ? '"::" # IPv4, too' : '0.0.0.0'}`,
    `    port: ${ports.tls}`,
    `    hosts: [${hosts}] # names in the self-signed certificate`,
    '    # certificate: ./tls/cert.pem',
    '    # key: ./tls/key.pem',
    `  apiToken: ${text(apiToken)} # password of the API`,
    '',
  ]
}

const people = ({ email, passwordHash }: FirstConfig): readonly string[] => [
  'subscribers: # people who sign in with a browser',
  `  - email: ${text(email)} # address /public/${nameOf(email)}`,
  `    password: ${text(passwordHash)} # printed by \`trunkline hash-password\``,
  '    # mayDialOut: true # permits calls to telephone numbers; restrict carriers by numbers first',
]
