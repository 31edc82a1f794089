import { type Cause, type Code, catalogue } from '../../core/errors/catalogue.ts'

/** Returns the catalogue code in the `code` of a media error; `internal` for any other error. */
export const mediaErrorCode = (error: unknown): Code => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && Object.hasOwn(catalogue, code) ? (code as Code) : 'internal'
}

/** Returns the cause for ending a leg after a media error. */
export const mediaCause = (error: unknown): Cause => ({
  code: mediaErrorCode(error),
  detail: error instanceof Error ? error.message : String(error),
})
