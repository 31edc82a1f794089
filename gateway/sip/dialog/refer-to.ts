import { readNameAddr } from '@trunkline/sip-agent/message'
import { parseSipUri, parseTelUri, type SipUri } from '../../core/sip-uri.ts'

/** Dialog identifiers of a Replaces header, seen from the gateway (RFC 3891 section 3). */
export interface NamedDialog {
  readonly callId: string
  /** Local tag. */
  readonly toTag: string
  /** The far side's tag. */
  readonly fromTag: string
  /** Replaces the dialog only if it is not answered yet (`early-only`). */
  readonly isEarlyOnly: boolean
}

/** Target of a REFER (RFC 3515 section 2.1). */
export type ReferTo =
  | { readonly kind: 'uri'; readonly uri: SipUri; readonly replaces?: NamedDialog }
  | { readonly kind: 'number'; readonly number: string }

/** Reads the value of Refer-To. Returns undefined unless it asks for a call to one SIP or `tel` URI. */
export const readReferTo = (value: string): ReferTo | undefined => {
  const address = readNameAddr(value)
  if (!address) return undefined
  const tel = parseTelUri(address.uri)
  if (tel) return { kind: 'number', number: tel.number }
  const uri = parseSipUri(address.uri)
  if (!uri || (uri.params.get('method') ?? 'INVITE').toUpperCase() !== 'INVITE') return undefined
  const named = uri.headers.filter(({ name }) => name.toLowerCase() === 'replaces')
  if (named.length === 0) return { kind: 'uri', uri }
  const replaces = named.length === 1 ? readReplaces(named[0]!.value) : undefined
  return replaces && { kind: 'uri', uri, replaces }
}

/** Reads the value of Replaces; undefined if a tag is missing or repeated. */
export const readReplaces = (value: string): NamedDialog | undefined => {
  if (value.length > 1_024) return undefined
  const [callId = '', ...params] = value.split(';').map((part) => part.trim())
  const tags = (name: string) =>
    params.flatMap((param) => {
      const [, key = '', tag = ''] = /^([\w-]+)\s*=\s*([^\s,"]+)$/.exec(param) ?? []
      return key.toLowerCase() === name ? [tag] : []
    })
  const toTags = tags('to-tag')
  const fromTags = tags('from-tag')
  if (callId === '' || /[\s,"]/.test(callId) || toTags.length !== 1 || fromTags.length !== 1) return undefined
  const isEarlyOnly = params.some((param) => param.toLowerCase() === 'early-only')
  return { callId, toTag: toTags[0]!, fromTag: fromTags[0]!, isEarlyOnly }
}
