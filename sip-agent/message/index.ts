/** The SIP parser: messages, header fields, URIs and name-addr values (RFC 3261 section 25.1). */
export { type Address, parseAddress } from './address.ts'
export { checkMessage } from './check.ts'
export { SipParseError } from './error.ts'
export { type Header, Headers, headerKey, headerName } from './headers.ts'
export { defaultLimits, type Limits } from './limits.ts'
export type { RawMessage, SipMessage, SipRequest, SipResponse } from './message.ts'
export { reasonPhrase } from './methods.ts'
export { parseDatagram } from './parse.ts'
export { serialiseMessage } from './serialise.ts'
export type { Params } from './text.ts'
export {
  formatHost,
  type HostPort,
  isSipUri,
  type OtherUri,
  parseHostPort,
  parseUri,
  type SipUri,
} from './uri.ts'
