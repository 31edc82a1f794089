import { VerbFailed } from '../../../handlers/verbs.ts'
import { type Code, catalogue, codeOf } from '../../core/errors/catalogue.ts'

/** Failure of a verb with a code of the catalogue; `message` defaults to the code's text. */
export const verbFailed = (code: Code, message: string = catalogue[code].text, cause?: unknown): VerbFailed =>
  new VerbFailed(code, message, cause)

/**
 * Converts an error into a failure of a verb. `otherwise`: code for an error without one of the catalogue.
 */
export const failureOf = (error: unknown, otherwise: Code): VerbFailed => {
  const message = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  return verbFailed(code === 'internal' ? otherwise : code, message, error)
}

/** Rejects with `verb_unavailable`: the gateway has no such service. */
export const unavailable = async (what: string): Promise<never> => {
  throw verbFailed('verb_unavailable', `There are no ${what} here.`)
}
