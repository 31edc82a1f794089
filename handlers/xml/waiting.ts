import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import type { CallControl } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import type { Fields, Target } from './form.ts'
import type { Stage } from './verb.ts'

/** What who waits hears: a document, audio, or nothing at all. */
export type Waiting = Target | 'silence'

/** Between two requests for the document of somebody who waits lies at least so much; more, where it cannot be had. */
const shortestRoundMs = 1000
const afterFailureMs = 10_000

const audio = /\.(wav|mp3|ogg)$/i

/** Reads `<name>` and `<name>Method`; undefined where there is none: hold music. An empty one is silence. */
export const readWait = (reader: ElementReader, name: string): Waiting | undefined => {
  if (reader.element.attributes.get(name)?.trim() !== '') return reader.target(name, `${name}Method`)
  reader.method(`${name}Method`)
  return 'silence'
}

/**
 * One round of the wait: the audio, or the document to its end; `leave` where that says so. When they cannot be had, which is told in the
 * call's log, there is silence for a while.
 */
export const waitIn = async (
  stage: Stage,
  waiting: CallControl,
  target: Target,
  fields: Fields,
): Promise<'leave' | undefined> => {
  const begun = stage.context.now()
  try {
    if (await oneRound(stage, waiting, target, fields)) return 'leave'
  } catch (error) {
    if (error instanceof VerbFailed) stage.warn(error.code, error.message)
    else if (!(error instanceof DocumentUnreachable || error instanceof DocumentInvalid)) throw error
    await waiting.sleep(afterFailureMs)
  }
  const rest = begun + shortestRoundMs - stage.context.now()
  if (rest > 0) await waiting.sleep(rest)
  return undefined
}

const oneRound = async (
  stage: Stage,
  waiting: CallControl,
  target: Target,
  fields: Fields,
): Promise<'leave' | undefined> => {
  if (!audio.test(new URL(target.url).pathname)) return stage.aside(waiting, target, { fields })
  await waiting.play({ sounds: [{ kind: 'audio', url: target.url }], loop: 0 })
  return undefined
}
