import type { Headers } from '../message/headers.ts'

/** Returns the option tags (RFC 3261 19.2) in all headers with the name `key`, in lower case. */
export const optionTags = (headers: Headers, key: 'require' | 'supported'): Set<string> => {
  const tags = new Set<string>()
  for (const value of headers.all(key)) {
    for (const tag of value.split(',')) if (tag.trim() !== '') tags.add(tag.trim().toLowerCase())
  }
  return tags
}

/**
 * Option tags that a request may require by default. The agent itself implements `100rel`, and the transport
 * part of `outbound` (RFC 5626). The other extensions concern the application, which receives the
 * whole request. They are session timers (`timer`, RFC 4028), Replaces and Join (RFC 3891, 3911), REFER
 * without subscription (RFC 4488), Path and GRUU (RFC 3327, 5627). Also listed are connected identity (RFC
 * 4916), History-Info (RFC 7044), Privacy (RFC 3323) and Target-Dialog (RFC 4538). The application must
 * reject with 420 an extension that it does not implement. Extensions that neither the agent nor the gateway
 * implements are absent, such as `sec-agree` and `precondition`.
 */
export const defaultUnderstood: readonly string[] = [
  '100rel',
  'timer',
  'replaces',
  'join',
  'norefersub',
  'path',
  'outbound',
  'gruu',
  'from-change',
  'histinfo',
  'privacy',
  'tdialog',
]
