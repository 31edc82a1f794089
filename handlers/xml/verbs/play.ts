import { readDigits } from '../digits.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { VerbKind } from '../verb.ts'
import { playRepeated, type RepeatedSound } from './repeated-sound.ts'

/** Verb `Play`: plays audio, sends digits, or both. */
export const play: VerbKind = {
  name: 'Play',
  attributes: ['loop', 'digits'],
  canRunInSideDocument: true,
  read: (reader) => {
    const { audio, digits } = readPlay(reader)
    const playAudio = playRepeated(audio)
    if (!playAudio && digits === undefined) return undefined
    return async (context) => {
      await playAudio?.(context)
      if (digits === undefined) return 'next'
      await context.answer()
      await context.call.sendDigits(digits)
      return 'next'
    }
  },
}

/** Reads `Play`: a URL (`file:` names a file of the sounds folder), the attribute `digits`, or both. */
export const readPlay = (
  reader: ElementReader,
): { readonly audio: RepeatedSound | undefined; readonly digits: string | undefined } => {
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
