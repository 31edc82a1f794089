import type { SipRequest } from '../../message/message.ts'
import { dialogCreatingMethods, knownMethods } from '../../message/methods.ts'
import type { AppHeader } from '../app-headers.ts'
import { optionTags } from '../options.ts'

/** Reason for rejecting a request without an application. */
export interface Refusal {
  readonly status: number
  readonly headers: readonly AppHeader[]
  /** Reason phrase; default: the standard phrase of the status. */
  readonly reason?: string
}

/** Facts that the checks need besides the request. */
export interface RefusalFacts {
  /** Option tags that may be required, in lower case. */
  readonly understood: ReadonlySet<string>
  /** Whether the request has looped; see `hasLooped`. */
  readonly isLooped: boolean
  /** Whether the same request arrived by another path. */
  readonly isMerged: boolean
}

const refuse = (status: number, ...headers: AppHeader[]): Refusal => ({ status, headers })

/**
 * Applies the checks of RFC 3261 8.2 and 16.3 in their order. Returns undefined if the request passes all of
 * them.
 */
export const refusalOf = (request: SipRequest, facts: RefusalFacts): Refusal | undefined => {
  const { method, headers, uri, toTag, fromTag } = request
  if (!knownMethods.has(method)) return refuse(501, ['Allow', [...knownMethods].join(', ')])
  if (facts.isLooped) return refuse(482)
  // RFC 3261 8.1.1.3: without the tag, the agent's own in-dialog requests would look like new calls.
  if (dialogCreatingMethods.has(method) && fromTag === '')
    return { ...refuse(400), reason: 'Missing From Tag' }
  // Max-Forwards of 0 is no reason to reject, because the agent is the destination (RFC 3261 8.2, RFC 4475
  // 3.3.11). A proxy checks it before it forwards.
  const isNewCall = method === 'INVITE' && toTag === ''
  // IMS trunks send a telephone number as a `tel` URI (RFC 3966). The application decides whether to accept
  // it.
  if (!/^sips?:/i.test(uri) && !(isNewCall && /^tel:/i.test(uri))) return refuse(416)
  // RFC 3261 8.2.2.2.
  if (facts.isMerged) return refuse(482)
  const unsupported = [...optionTags(headers, 'require')].filter((tag) => !facts.understood.has(tag))
  if (unsupported.length > 0) return refuse(420, ['Unsupported', unsupported.join(', ')])
  // Applications receive bodies as text, which would corrupt a compressed body (RFC 3261 8.2.3).
  const encoding = headers.first('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && request.body.length > 0) return refuse(415, ['Accept-Encoding', 'identity'])
  return undefined
}
