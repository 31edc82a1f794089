import { existsSync, readFileSync } from 'node:fs'

/**
 * One message of RFC 4475 or 5118. `parser`: `ok`, or the status of the parser's error. `agent`: reaction of
 * the whole agent, which delivers it, answers with a status, or drops it.
 */
export type Torture = readonly [
  section: string,
  file: string,
  parser: 'ok' | number,
  agent: 'application' | 'dropped' | number,
]

const folder = new URL('../../../shared/data/sip-torture/', import.meta.url)

/** Whether the corpora are available. */
export const torturePresent = existsSync(folder)
/** Suffix of the name of a test that needs the corpora. */
export const tortureNote = torturePresent ? '' : ' (corpus absent: skipped)'

/** Messages of RFC 4475, with one file of its archive that no section mentions. */
export const rfc4475: readonly Torture[] = [
  ['3.1.1.1 a short tortuous INVITE', 'wsinv', 'ok', 481],
  ['3.1.1.2 wide range of valid characters', 'intmeth', 'ok', 501],
  ['3.1.1.3 valid use of the % escaping mechanism', 'esc01', 'ok', 'application'],
  ['3.1.1.4 escaped nulls in URIs', 'escnull', 'ok', 'application'],
  ['3.1.1.5 use of % when it is not an escape', 'esc02', 'ok', 501],
  ['3.1.1.6 message with no LWS between display name and <', 'lwsdisp', 'ok', 'application'],
  ['3.1.1.7 long values in header fields', 'longreq', 'ok', 'application'],
  ['3.1.1.8 extra trailing octets in a UDP datagram', 'dblreq', 'ok', 'application'],
  ['3.1.1.9 semicolon-separated parameters in URI user part', 'semiuri', 'ok', 'application'],
  ['3.1.1.10 varied and unknown transport types', 'transports', 'ok', 'application'],
  ['3.1.1.11 multipart MIME message', 'mpart01', 'ok', 'application'],
  ['3.1.1.12 unusual reason phrase', 'unreason', 'ok', 'dropped'],
  ['3.1.1.13 empty reason phrase', 'noreason', 'ok', 'dropped'],
  ['3.1.2.1 extraneous header field separators', 'badinv01', 400, 400],
  ['3.1.2.2 Content-Length larger than message', 'clerr', 400, 400],
  ['3.1.2.3 negative Content-Length', 'ncl', 400, 400],
  ['3.1.2.4 request scalar fields with overlarge values', 'scalar02', 400, 400],
  ['3.1.2.5 response scalar fields with overlarge values', 'scalarlg', 400, 'dropped'],
  ['3.1.2.6 unterminated quoted string in display name', 'quotbal', 400, 400],
  ['3.1.2.7 <> enclosing Request-URI', 'ltgtruri', 400, 400],
  ['3.1.2.8 malformed SIP Request-URI with embedded LWS', 'lwsruri', 400, 400],
  ['3.1.2.9 multiple SP separating Request-Line elements', 'lwsstart', 400, 400],
  ['3.1.2.10 SP characters at end of Request-Line', 'trws', 400, 400],
  ['3.1.2.11 escaped headers in SIP Request-URI', 'escruri', 400, 400],
  ['3.1.2.12 invalid time zone in Date: nothing of ours reads it', 'baddate', 'ok', 'application'],
  ['3.1.2.13 failure to enclose name-addr URI in <>', 'regbadct', 400, 400],
  ['3.1.2.14 spaces within addr-spec: forgiven inside the brackets', 'badaspec', 'ok', 'application'],
  ['3.1.2.15 non-token characters in display name', 'baddn', 400, 400],
  ['3.1.2.16 unknown protocol version', 'badvers', 505, 505],
  ['3.1.2.17 start line and CSeq method mismatch', 'mismatch01', 400, 400],
  ['3.1.2.18 unknown method with CSeq method mismatch', 'mismatch02', 400, 400],
  ['3.1.2.19 overlarge response code', 'bigcode', 400, 'dropped'],
  ['3.2.1 missing transaction identifier', 'badbranch', 400, 400],
  ['3.3.1 missing required header fields', 'insuf', 400, 400],
  ['3.3.2 Request-URI with unknown scheme: 416 above the parser', 'unkscm', 'ok', 416],
  ['3.3.3 Request-URI with known but atypical scheme: 416 above the parser', 'novelsc', 'ok', 416],
  ['3.3.4 unknown URI schemes in header fields', 'unksm2', 'ok', 'application'],
  ['3.3.5 Proxy-Require and Require: 420 above the parser', 'bext01', 'ok', 420],
  ['3.3.6 unknown Content-Type: 415 is the application’s', 'invut', 'ok', 'application'],
  ['3.3.7 unknown authorization scheme', 'regaut01', 'ok', 'application'],
  ['3.3.8 multiple values in single value required fields', 'multi01', 400, 400],
  ['3.3.9 multiple Content-Length values', 'mcl01', 400, 400],
  ['3.3.10 200 OK response with broadcast Via', 'bcast', 'ok', 'dropped'],
  ['3.3.11 Max-Forwards of zero: 483 above the parser', 'zeromf', 'ok', 'application'],
  ['3.3.12 REGISTER with a contact header parameter', 'cparam01', 'ok', 'application'],
  ['3.3.13 REGISTER with a url parameter', 'cparam02', 'ok', 'application'],
  ['3.3.14 REGISTER with a URL escaped header', 'regescrt', 'ok', 'application'],
  ['3.3.15 unacceptable Accept offering', 'sdp01', 'ok', 'application'],
  ['3.4.1 INVITE with RFC 2543 syntax: without a From tag, 400 above the parser', 'inv2543', 'ok', 400],
  ['of no section: a request line without a version', 'test', 400, 'dropped'],
]

/** RFC 5118. */
export const rfc5118: readonly Torture[] = [
  ['4.1 valid SIP message with an IPv6 reference', 'ipv6-good', 'ok', 'application'],
  ['4.2 invalid SIP message with an IPv6 reference', 'ipv6-bad', 400, 400],
  ['4.3 port ambiguous in a SIP URI', 'port-ambiguous', 'ok', 'application'],
  ['4.4 port unambiguous in a SIP URI', 'port-unambiguous', 'ok', 'application'],
  ['4.5 IPv6 reference delimiters in Via', 'via-received-param-with-delim', 'ok', 481],
  ['4.5 IPv6 reference delimiters missing in Via', 'via-received-param-no-delim', 'ok', 'application'],
  ['4.6 SIP request with IPv6 addresses in SDP', 'ipv6-in-sdp', 'ok', 'application'],
  ['4.7 multiple IP addresses in SIP header fields', 'mult-ip-in-header', 'ok', 481],
  ['4.8 multiple IP addresses in SDP', 'mult-ip-in-sdp', 'ok', 'application'],
  ['4.9 IPv4-mapped IPv6 addresses', 'ipv4-mapped-ipv6', 'ok', 'application'],
  [
    '4.10 IPv6 reference with the extra colon of the old grammar',
    'ipv6-bug-abnf-3-colons',
    'ok',
    'application',
  ],
  ['4.10 IPv6 reference by the corrected grammar', 'ipv6-correct-abnf-2-colons', 'ok', 'application'],
]

/** A message of RFC 4475, byte by byte. */
export const read4475 = (file: string): Buffer => {
  const bytes = readFileSync(new URL(`rfc4475/${file}.dat`, folder))
  // This file of the archive lacks its last line.
  return file === 'baddn' ? Buffer.concat([bytes, Buffer.from('\r\n')]) : bytes
}

/**
 * A message of RFC 5118. The files end their lines with LF, some lack the blank line, and Content-Length
 * counts other line ends.
 */
export const read5118 = (file: string): Buffer => {
  const text = readFileSync(new URL(`rfc5118/${file}`, folder))
    .toString('latin1')
    .replaceAll('\n', '\r\n')
  const whole = text.includes('\r\n\r\n') ? text : `${text}\r\n`
  const length = whole.length - whole.indexOf('\r\n\r\n') - 4
  return Buffer.from(whole.replace(/Content-Length: \d+/, `Content-Length: ${length}`), 'latin1')
}
