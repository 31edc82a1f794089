import type { Headers } from '../message/headers.ts'

/** The option tags (RFC 3261 19.2) that headers of this key name, in lower case. */
export const optionTags = (headers: Headers, key: 'require' | 'supported'): Set<string> => {
  const tags = new Set<string>()
  for (const value of headers.all(key)) {
    for (const tag of value.split(',')) if (tag.trim() !== '') tags.add(tag.trim().toLowerCase())
  }
  return tags
}

/**
 * The option tags that a request may require by default. The agent itself does `100rel`, and what RFC 5626 wants of a transport
 * (`outbound`). The others ask something of the application, which sees the request whole: session timers (`timer`, RFC 4028),
 * matching of Replaces and Join (RFC 3891, 3911), a REFER without subscription (RFC 4488), the registrar's Path and GRUU (RFC 3327,
 * 5627), a changed identity (RFC 4916), History-Info (RFC 7044), Privacy (RFC 3323), Target-Dialog (RFC 4538). Each of them must be able
 * to refuse with 420 what it cannot do. Not among them: `sec-agree`, `precondition` and others that nothing here does.
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
