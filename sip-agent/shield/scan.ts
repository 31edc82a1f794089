/** Maximum number of bytes that are searched for a User-Agent: scanners send short messages. */
const maxScannedBytes = 4_096

const cr = 13
const lf = 10

/**
 * Returns whether bytes are a response: they begin with `SIP/`. Line ends before a message are ignored (RFC
 * 3261 7.5).
 */
export const isResponse = (bytes: Uint8Array): boolean => {
  let at = 0
  while (bytes[at] === cr || bytes[at] === lf) at++
  const is = (offset: number, letter: number) => ((bytes[at + offset] ?? 0) | 32) === letter
  return is(0, 115) && is(1, 105) && is(2, 112) && bytes[at + 3] === 47
}

/**
 * Returns the value of the first User-Agent header in lower case. It does not parse the message: checks
 * before the parser must be cheaper than the parser.
 */
export const userAgentOf = (bytes: Uint8Array): string => {
  const text = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    Math.min(bytes.byteLength, maxScannedBytes),
  ).toString('latin1')
  const found = /\nuser-agent[ \t]*:([^\n]*(?:\n[ \t][^\n]*)*)/i.exec(text)
  if (!found) return ''
  const end = text.search(/\n\r?\n/)
  return end >= 0 && end < found.index ? '' : (found[1] ?? '').toLowerCase()
}
