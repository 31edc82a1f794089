import type { EngineFailure, EngineFailureKind } from '../engine.ts'

/** Failure of a part of an engine. Its message contains no secret and no text of the conversation. */
export class EngineError extends Error {
  readonly kind: EngineFailureKind
  /** Wait that the server demands before another request, in ms. */
  readonly retryAfterMs: number | undefined

  constructor(kind: EngineFailureKind, message: string, retryAfterMs?: number) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }

  /** Returns the failure for a listener; `part`: see {@link EngineFailure.part}. */
  toFailure(part: string): EngineFailure {
    return { kind: this.kind, message: this.message, part }
  }
}

/**
 * Returns the failure that an error stands for. An aborted `signal` decides, if its reason is a failure.
 * Other errors are lost connections, of which only the code is kept: messages may contain URLs.
 */
export const engineErrorOf = (error: unknown, signal?: AbortSignal): EngineError => {
  if (signal?.aborted && signal.reason instanceof EngineError) return signal.reason
  if (error instanceof EngineError) return error
  const { code } = error as NodeJS.ErrnoException
  return new EngineError('connection', `the connection failed${typeof code === 'string' ? `: ${code}` : ''}`)
}
