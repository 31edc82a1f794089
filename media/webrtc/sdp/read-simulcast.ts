import { type Fields, list, object, text } from './fields.ts'
import type { Simulcast } from './session-description.ts'

/** Maximum number of encodings that the gateway receives; browsers offer at most three. */
const maxRids = 3

/**
 * Returns the simulcast that an m-line offers to send (RFC 8853): the first choice of each stream, at most
 * three. Undefined with fewer than two streams, or without ids that distinguish their packets.
 */
export const readSimulcast = (media: Fields, ridExtension: number | undefined): Simulcast | undefined => {
  const lines = object(media.simulcast)
  const sent = lines.dir1 === 'send' ? lines.list1 : lines.dir2 === 'send' ? lines.list2 : undefined
  if (ridExtension === undefined || sent === undefined) return undefined
  const declared = new Set(
    list(media.rids)
      .filter(({ direction }) => direction === 'send')
      .map(({ id }) => text(id)),
  )
  // A tilde marks a stream that is paused at first.
  const rids = (text(sent) ?? '')
    .split(';')
    .slice(0, maxRids)
    .map((choices) => choices.split(',')[0]!.replace(/^~/, ''))
    .filter((rid) => /^[A-Za-z0-9]{1,16}$/.test(rid) && declared.has(rid))
  const different = [...new Set(rids)]
  return different.length > 1 ? { rids: different, ridExtension } : undefined
}
