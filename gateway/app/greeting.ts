import type { Config } from '../../config/types.ts'

/** Where the running gateway can be reached. */
export interface Addresses {
  /** `udp/192.0.2.1:5060` and so on. */
  readonly sip: readonly string[]
  /** Base URLs of the HTTP listeners. */
  readonly http: readonly string[]
}

/**
 * What a person who started the gateway in a terminal wants to know: where to call, what to open, who to be.
 */
export const greeting = (config: Pick<Config, 'domains' | 'subscribers'>, addresses: Addresses): string => {
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
