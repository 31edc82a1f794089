/** The SIP parser, for whoever reads messages besides the agent. Addresses, URIs and header fields follow RFC 3261. */
export { SipParseError } from './error.ts'
export type { Header, Headers } from './headers.ts'
export type { SipMessage, SipRequest, SipResponse } from './message.ts'
export { parseDatagram } from './parse.ts'
