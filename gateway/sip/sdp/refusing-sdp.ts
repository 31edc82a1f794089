import { type MediaLine, mediaLines } from './media-lines.ts'

/** Maximum length of an offer that is rejected line by line, in characters. */
const maxOfferLength = 16_384
/** Maximum number of m-lines of an offer that is rejected by an answer. */
const maxSections = 16

/**
 * Returns the answer that rejects an offer: every m-line with port 0 (RFC 3264 section 6). Only the m-lines
 * must be well-formed; returns undefined without any.
 */
export const refusingSdp = (offer: string): string | undefined => {
  if (offer.length > maxOfferLength) return undefined
  const sections = mediaLines(offer).filter(isRepeatable)
  if (sections.length === 0 || sections.length > maxSections) return undefined
  const time = /^t=(\d+ \d+)/m.exec(offer)?.[1] ?? '0 0'
  return [
    'v=0',
    'o=- 0 0 IN IP4 0.0.0.0',
    's=-',
    'c=IN IP4 0.0.0.0',
    `t=${time}`,
    ...sections.map(({ media, protocol, formats }) => `m=${media} 0 ${protocol} ${formats}`),
    '',
  ].join('\r\n')
}

/** Whether an m-line has only characters that an answer may repeat. */
const isRepeatable = ({ media, protocol, formats }: MediaLine): boolean =>
  /^[\w-]+$/.test(media) && /^[\w/-]+$/.test(protocol) && /^[\w.+-]+(?: [\w.+-]+)*$/.test(formats)
