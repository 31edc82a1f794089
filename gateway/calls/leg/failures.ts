import { VerbFailed } from '../../../handlers/verbs.ts'
import { type Code, catalogue, codeOf } from '../../core/errors/catalogue.ts'

/** A verb's failure, with a code of the catalogue; `message` defaults to its text. */
export const verbFailed = (code: Code, message: string = catalogue[code].text, cause?: unknown): VerbFailed =>
  new VerbFailed(code, message, cause)

/** The failure that an error of another part means; `otherwise` where it has no code of the catalogue. */
export const failureOf = (error: unknown, otherwise: Code): VerbFailed => {
  const message = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  return verbFailed(code === 'internal' ? otherwise : code, message, error)
}

/** The gateway was put together without a part. */
export const unavailable = async (what: string): Promise<never> => {
  throw verbFailed('verb_unavailable', `There are no ${what} here.`)
}
