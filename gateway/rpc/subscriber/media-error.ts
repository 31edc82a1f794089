import { type Cause, type Code, catalogue } from '../../core/errors/catalogue.ts'

/**
 * The catalogue's code of an error of the media layer, which carries it as `code`; `internal` for everything
 * else.
 */
export const mediaErrorCode = (error: unknown): Code => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && Object.hasOwn(catalogue, code) ? (code as Code) : 'internal'
}

/** Why a leg cannot go on after an error of the media layer. */
export const mediaCause = (error: unknown): Cause => ({
  code: mediaErrorCode(error),
  detail: error instanceof Error ? error.message : String(error),
})
