import type { RecognitionRequest, Transcript } from '../../media/types.ts'
import { isJsonObject, readJsonObject } from '../core/json.ts'

/** Message that ends the audio; the server sends the last transcript and closes the connection. */
export const voskEof = '{"eof" : 1}'

/**
 * Returns the first message to a vosk-server. With `phrases`, the server recognises only these and the
 * unknown word; without, its whole vocabulary.
 */
export const voskConfig = (
  sampleRate: RecognitionRequest['sampleRate'],
  phrases: readonly string[],
): string =>
  JSON.stringify({
    config: {
      sample_rate: sampleRate,
      ...(phrases.length > 0 && { phrase_list: [...phrases.map((each) => each.toLowerCase()), unknownWord] }),
    },
  })

/** Word that a server restricted to phrases returns for every other word. */
const unknownWord = '[unk]'

/**
 * Reads a message of a vosk-server: `{"partial": …}`, or `{"text": …, "result": [{"conf": …}, …]}`, or
 * `{"alternatives": [{"text": …, "confidence": …}, …]}`, of which the first is used. The confidence is the
 * mean over the words. Returns undefined for other messages; throws an Error unless it is a JSON object.
 */
export const readVoskMessage = (message: string): Transcript | undefined => {
  const read = readJsonObject(message)
  if (typeof read.partial === 'string') return { text: known(read.partial), isFinal: false }
  const [first] = Array.isArray(read.alternatives) ? read.alternatives : [read]
  if (!isJsonObject(first) || typeof first.text !== 'string') return undefined
  // The `confidence` of an alternative is a score outside the range 0 to 1, so it is not used.
  const confidence = meanOf(first.result)
  return { text: known(first.text), isFinal: true, ...(confidence !== undefined && { confidence }) }
}

const known = (text: string): string =>
  text
    .split(/\s+/)
    .filter((word) => word !== '' && word !== unknownWord)
    .join(' ')

const meanOf = (words: unknown): number | undefined => {
  if (!Array.isArray(words)) return undefined
  const all = words
    .map((word) => (isJsonObject(word) ? word.conf : undefined))
    .filter((conf) => typeof conf === 'number' && conf >= 0 && conf <= 1)
  return all.length === 0
    ? undefined
    : all.reduce((sum: number, conf) => sum + (conf as number), 0) / all.length
}
