import type { SipRequest } from '../../message/message.ts'
import { knownMethods } from '../../message/methods.ts'
import type { AppHeader } from '../app-headers.ts'
import { optionTags } from '../options.ts'
import { dialogMakers } from '../uac/new-request.ts'

/** Why a request is refused before anybody is asked. */
export interface Refusal {
  readonly status: number
  readonly headers: readonly AppHeader[]
  /** Default: the usual phrase of the status. */
  readonly reason?: string
}

/** What the checks need to know that is not in the request. */
export interface RefusalFacts {
  /** Option tags that may be required, lower case. */
  readonly understood: ReadonlySet<string>
  /** True where the request has been here before: one of its Vias is ours. */
  readonly looped: boolean
  /** True where the same request came by another path. */
  readonly merged: boolean
}

const refuse = (status: number, ...headers: AppHeader[]): Refusal => ({ status, headers })

/** The checks of RFC 3261 8.2 and 16.3, in their order; undefined where nothing speaks against the request. */
export const refusalOf = (request: SipRequest, facts: RefusalFacts): Refusal | undefined => {
  const { method, headers, uri, toTag, fromTag } = request
  if (!knownMethods.has(method)) return refuse(501, ['Allow', [...knownMethods].join(', ')])
  if (facts.looped) return refuse(482)
  // RFC 3261 8.1.1.3: without it nothing tells our own requests within the dialog from new calls.
  if (dialogMakers.has(method) && fromTag === '') return { ...refuse(400), reason: 'Missing From Tag' }
  // Max-Forwards of 0 is no reason to refuse: the request ends here (RFC 3261 8.2, RFC 4475 3.3.11). A proxy looks at it before it forwards.
  const isNewCall = method === 'INVITE' && toTag === ''
  // A telephone number alone, as IMS trunks send it (RFC 3966): whether a call may name one is for the application to say.
  if (!/^sips?:/i.test(uri) && !(isNewCall && /^tel:/i.test(uri))) return refuse(416)
  // RFC 3261 8.2.2.2.
  if (facts.merged) return refuse(482)
  const unsupported = [...optionTags(headers, 'require')].filter((tag) => !facts.understood.has(tag))
  if (unsupported.length > 0) return refuse(420, ['Unsupported', unsupported.join(', ')])
  // The application reads text: what is packed would not reach it whole (RFC 3261 8.2.3).
  const encoding = headers.first('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && request.body.length > 0) return refuse(415, ['Accept-Encoding', 'identity'])
  return undefined
}
