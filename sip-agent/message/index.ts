/** The SIP parser: messages, header fields, URIs and name-addr values (RFC 3261 section 25.1). */

export { type AuthParam, type AuthScheme, readAuthSchemes } from './auth-params.ts'
export { checkMessage } from './check.ts'
export { type Header, Headers, headerKey, headerName } from './headers.ts'
export { defaultMessageLimits, type MessageLimits } from './limits.ts'
export type { RawMessage, SipMessage, SipRequest, SipResponse } from './message.ts'
export { reasonPhrase } from './methods.ts'
export { type LooseNameAddr, type NameAddr, parseNameAddr, readNameAddr } from './name-addr.ts'
export { parseDatagram } from './parse.ts'
export { serialiseMessage } from './serialise.ts'
export { SipParseError, withoutFault } from './sip-parse-error.ts'
export { hasControls, type Params, readHeaderParams, splitOutside } from './text.ts'
export {
  formatHost,
  type HostPort,
  isSipUri,
  type OtherUri,
  parseHostPort,
  parseUri,
  readSipUri,
  type SipUri,
} from './uri.ts'
export { parseVia, type Via } from './via.ts'
