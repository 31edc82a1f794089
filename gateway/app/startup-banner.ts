import type { Config } from '../../config/types.ts'

/** Addresses that a running gateway listens on. */
export interface ListenAddresses {
  /** Addresses of the SIP listeners, such as `udp/192.0.2.1:5060`. */
  readonly sip: readonly string[]
  /** Base URLs of the HTTP listeners. */
  readonly http: readonly string[]
}

/**
 * Returns the text for a terminal after the start: the address to call, the page to open, the account to use.
 */
export const startupBanner = (
  config: Pick<Config, 'domains' | 'subscribers'>,
  addresses: ListenAddresses,
): string => {
  const page = addresses.http.find((url) => url.startsWith('http:')) ?? addresses.http[0]
  const subscriber = config.subscribers[0]
  const domain = config.domains[0]
  const lines = [
    '',
    '  Trunkline is ready.',
    '',
    ...addresses.sip.map((sip) => `  Carrier, SIP   ${sip}`),
    ...(domain ? [`  To call        sip:anything@${domain.domain}`] : []),
    ...(page ? [`  Softphone      ${page}`] : []),
    ...(subscriber
      ? [`  Sign in as     ${subscriber.email} (address /${subscriber.context}/${subscriber.name})`]
      : []),
    '',
  ]
  return `${lines.join('\n')}\n`
}
