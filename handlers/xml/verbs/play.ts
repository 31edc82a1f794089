import { digitsPattern } from '../../common/destinations.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { VerbKind } from '../verb.ts'
import { playing, type Repeated } from './repeated.ts'

/** `Play` plays audio, or presses keys, or both. */
export const play: VerbKind = {
  name: 'Play',
  attributes: ['loop', 'digits'],
  aside: true,
  read: (reader) => {
    const { audio, digits } = readPlay(reader)
    const playAudio = playing(audio)
    if (!playAudio && digits === undefined) return undefined
    return async (stage) => {
      await playAudio?.(stage)
      if (digits === undefined) return 'on'
      await stage.answer()
      await stage.call.sendDigits(digits)
      return 'on'
    }
  },
}

/** Reads `Play`: a URL, also `file:` for the folder of sounds, or the attribute `digits`, or both. */
export const readPlay = (
  reader: ElementReader,
): { readonly audio: Repeated | undefined; readonly digits: string | undefined } => {
  const loop = reader.integer('loop', 0, 1000, 1)
  const digits = readDigits(reader, 'digits')
  const content = reader.content()
  if (content === '') {
    if (!reader.element.attributes.has('digits'))
      reader.error(codes.badUrl, 'Play needs a URL or the attribute digits.')
    return { audio: undefined, digits }
  }
  const url = /^file:/i.test(content) ? content : reader.url(content)
  return { audio: url === undefined ? undefined : { sound: { kind: 'audio', url }, loop }, digits }
}

/** Reads an attribute with keys to be pressed; others than telephones have are warned of, and none is pressed then. */
export const readDigits = (reader: ElementReader, name: string): string | undefined => {
  const digits = reader.text(name)
  if (digits === undefined || new RegExp(digitsPattern).test(digits)) return digits
  reader.warning(codes.digits, `The attribute ${name} may hold 0-9 * # A-D w W; nothing is pressed.`, name)
  return undefined
}
