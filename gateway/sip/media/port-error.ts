import { TrunklineError } from '../../core/errors/catalogue.ts'

/** The edge's own error for a range that is used up, in the words of the catalogue. */
export const asPortError = (error: unknown): unknown =>
  error instanceof Error && 'code' in error && error.code === 'no_ports'
    ? new TrunklineError('no_ports', undefined, {}, error)
    : error
