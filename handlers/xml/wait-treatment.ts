import type { Fields, Target } from '../common/forms.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import type { CallControl } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import type { SideDocument, VerbContext } from './verb.ts'

/** Treatment of a waiting caller: a document or audio at a URL, or silence. */
export type WaitTreatment = Target | 'silence'

/** Silence after a failed round, before the document or audio is requested again, in milliseconds. */
const afterFailureMs = 10_000

const audio = /\.(wav|mp3|ogg)$/i

/** Attributes that {@link readWait} reads. The family has two names for the method. */
export const waitAttributes = ['waitUrl', 'waitMethod', 'waitUrlMethod'] as const

/** Reads `waitUrl` and its method. An empty URL is silence. Undefined, which is hold music, without a URL. */
export const readWait = (reader: ElementReader): WaitTreatment | undefined => {
  const method = reader.element.attributes.has('waitMethod') ? 'waitMethod' : 'waitUrlMethod'
  if (reader.element.attributes.get('waitUrl')?.trim() !== '') return reader.target('waitUrl', method)
  reader.method(method)
  return 'silence'
}

/**
 * Returns a function that plays one round to the waiting caller: the audio, or the document to its end. It
 * resolves with `leave` if the document says so. If the URL fails, the round is silence. Faults are logged in
 * the first round only.
 */
export const waitRounds = (
  context: VerbContext,
  target: Target,
): ((waiting: CallControl, fields: Fields) => Promise<'leave' | undefined>) => {
  let isRepeated = false
  return async (waiting, fields) => {
    try {
      const side = { fields, isRepeated }
      if ((await oneRound(context, waiting, target, side)) === 'leave') return 'leave'
    } catch (error) {
      if (!isMissing(error)) throw error
      if (error instanceof VerbFailed && !isRepeated) context.warn(error.code, error.message)
      await waiting.sleep(afterFailureMs)
    }
    isRepeated = true
    return undefined
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof VerbFailed || error instanceof DocumentUnreachable || error instanceof DocumentInvalid

const oneRound = async (
  context: VerbContext,
  waiting: CallControl,
  target: Target,
  side: SideDocument,
): Promise<'leave' | undefined> => {
  if (!audio.test(new URL(target.url).pathname)) return context.runSideDocument(waiting, target, side)
  await waiting.play({ sounds: [{ kind: 'audio', url: target.url }], loop: 0 })
  return undefined
}
