import type { Capabilities } from '../agent-link.ts'
import type { SipRequest } from '../srf.ts'

/** The option tags of a Supported, Require or Unsupported value, in lower case. */
export const optionTags = (value: string | undefined): readonly string[] =>
  (value ?? '')
    .split(',')
    .map((tag) => tag.trim().toLowerCase())
    .filter((tag) => tag !== '')

/** The methods of an Allow value, in upper case. */
export const methodsOf = (value: string | undefined): readonly string[] =>
  optionTags(value).map((method) => method.toUpperCase())

/**
 * Returns the Supported value: session timers, Replaces, REFER without a subscription, and reliable
 * provisional responses if the agent has them.
 */
export const supportedTags = ({
  hasReliableProvisionals,
}: Pick<Capabilities, 'hasReliableProvisionals'>): string =>
  ['timer', 'replaces', 'norefersub', ...(hasReliableProvisionals ? ['100rel'] : [])].join(', ')

/** Returns the required extensions that the gateway does not support (RFC 3261 section 8.2.2.3). */
export const unsupportedTags = (
  required: string | undefined,
  capabilities: Pick<Capabilities, 'hasReliableProvisionals'>,
): readonly string[] => {
  const ours = optionTags(supportedTags(capabilities))
  return optionTags(required).filter((tag) => !ours.includes(tag))
}

/** Whether the sender of a request supports or requires an extension. */
export const hasExtension = (request: Pick<SipRequest, 'get'>, tag: string): boolean =>
  optionTags(request.get('Supported')).includes(tag) || optionTags(request.get('Require')).includes(tag)
