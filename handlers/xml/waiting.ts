import type { Fields, Target } from '../common/forms.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import type { CallControl } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import type { Beside, Stage } from './verb.ts'

/** What who waits hears: a document, audio, or nothing at all. */
export type Waiting = Target | 'silence'

/** Before the document of somebody who waits is asked for again, where it could not be had. */
const afterFailureMs = 10_000

const audio = /\.(wav|mp3|ogg)$/i

/** The attributes that {@link readWait} reads. The family writes the second one in two ways. */
export const waitAttributes = ['waitUrl', 'waitMethod', 'waitUrlMethod'] as const

/** Reads `waitUrl` and its method; undefined where there is none: hold music. An empty one is silence. */
export const readWait = (reader: ElementReader): Waiting | undefined => {
  const method = reader.element.attributes.has('waitMethod') ? 'waitMethod' : 'waitUrlMethod'
  if (reader.element.attributes.get('waitUrl')?.trim() !== '') return reader.target('waitUrl', method)
  reader.method(method)
  return 'silence'
}

/**
 * Who waits hears one round at each call of what comes back: the audio, or the document to its end; `leave` where that says so. When they
 * cannot be had there is silence for a while. What is wrong with them is told in the call's log once.
 */
export const roundsOf = (
  stage: Stage,
  target: Target,
): ((waiting: CallControl, fields: Fields) => Promise<'leave' | undefined>) => {
  let again = false
  return async (waiting, fields) => {
    try {
      const beside = { fields, again }
      if ((await oneRound(stage, waiting, target, beside)) === 'leave') return 'leave'
    } catch (error) {
      if (!isMissing(error)) throw error
      if (error instanceof VerbFailed && !again) stage.warn(error.code, error.message)
      await waiting.sleep(afterFailureMs)
    }
    again = true
    return undefined
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof VerbFailed || error instanceof DocumentUnreachable || error instanceof DocumentInvalid

const oneRound = async (
  stage: Stage,
  waiting: CallControl,
  target: Target,
  beside: Beside,
): Promise<'leave' | undefined> => {
  if (!audio.test(new URL(target.url).pathname)) return stage.aside(waiting, target, beside)
  await waiting.play({ sounds: [{ kind: 'audio', url: target.url }], loop: 0 })
  return undefined
}
