import { canonicalHost } from '../../../config/networks.ts'
import { parseSipUri, parseTelUri, type SipUri } from '../../core/sip-uri.ts'
import type { Directory } from '../../directory/directory.ts'
import { escapedUser } from '../headers.ts'
import type { Trust } from './trust.ts'

/** Directory and networks that map a number to a domain application. */
export interface TelRules {
  readonly directory: Pick<Directory, 'domainApp'>
  readonly trust: Pick<Trust, 'telDomainOf'>
}

/**
 * Returns the SIP URI that a `tel:` request-URI stands for: the number without visual separators, at a domain
 * application (RFC 3261 section 19.1.6). The domain is the `phone-context` if that is a domain application,
 * else the `domain` of the calling carrier. Returns undefined for a malformed URI and for a number without a
 * domain. Admission decides afterwards, as for any other call to that domain.
 */
export const telTarget = (
  uri: string,
  source: string,
  { directory, trust }: TelRules,
): SipUri | undefined => {
  const tel = parseTelUri(uri)
  if (!tel) return undefined
  const context = canonicalHost(tel.context)
  const domain = context !== '' && directory.domainApp(context) ? context : trust.telDomainOf(source)
  return domain === undefined ? undefined : parseSipUri(`sip:${escapedUser(tel.number)}@${domain};user=phone`)
}
