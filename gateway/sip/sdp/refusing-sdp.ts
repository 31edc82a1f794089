/** Longest offer that is refused line by line, in characters, and most m-lines. */
const maxOfferLength = 16_384
const maxSections = 16

/**
 * Returns the answer that refuses an offer: every m-line with port 0 (RFC 3264 section 6). Only the m-lines
 * must be well-formed; returns undefined without any.
 */
export const refusingSdp = (offer: string): string | undefined => {
  if (offer.length > maxOfferLength) return undefined
  const sections = [...offer.matchAll(/^m=([\w-]+) \d+(?:\/\d+)? ([\w/-]+)((?: [\w.+-]+)+)[ \t]*\r?$/gm)]
  if (sections.length === 0 || sections.length > maxSections) return undefined
  const time = /^t=(\d+ \d+)/m.exec(offer)?.[1] ?? '0 0'
  return [
    'v=0',
    'o=- 0 0 IN IP4 0.0.0.0',
    's=-',
    'c=IN IP4 0.0.0.0',
    `t=${time}`,
    ...sections.map(([, media, protocol, formats]) => `m=${media} 0 ${protocol}${formats}`),
    '',
  ].join('\r\n')
}
