import type { SessionOptions } from '../session/session-link.ts'

/** Options of an {@link UltravoxEngine}. */
export interface UltravoxOptions extends SessionOptions {
  /** URL that creates calls; default Ultravox'. */
  readonly url?: string
  readonly key?: string
  /** Model; default the server's. */
  readonly model?: string
  /** Voice, unless the document names one of `ultravox.`; default the server's. */
  readonly voice?: string
  /** Sample rate in Hz in both directions; default 8,000. */
  readonly rate?: 8000 | 16_000 | 48_000
}

/** URL of Ultravox' service. */
export const ultravoxUrl = 'https://api.ultravox.ai/api/calls'
