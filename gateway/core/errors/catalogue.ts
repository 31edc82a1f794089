import { apiCodes } from './api-errors.ts'
import { callCodes } from './call-errors.ts'
import type { Entry } from './error-entry.ts'
import { roomCodes } from './room-errors.ts'
import { edgeCodes } from './sip-errors.ts'

export type { Level } from './error-entry.ts'

/**
 * Every reason for a rejection or for the end of a call. Log lines, metric labels, API bodies, CDR causes and
 * the page `docs/errors.md` all use these codes and texts.
 */
export const catalogue = {
  ...callCodes,
  ...edgeCodes,
  ...apiCodes,
  ...roomCodes,
} as const satisfies Record<string, Entry>

/** A key of the {@link catalogue}. */
export type Code = keyof typeof catalogue

/** Cause of the end of a leg or a call. */
export interface Cause {
  readonly code: Code
  /** SIP status from the far side, or one to send in place of the catalogue's. */
  readonly sip?: number
  /** The Q.850 cause value that the far side gave. */
  readonly q850?: number
  /** Details in addition to the text of the catalogue. Never a secret. */
  readonly detail?: string
  /**
   * Removal from a room that ended the call: by another member, with all members, or by a time limit. Absent
   * if the call went on after the room.
   */
  readonly removal?: 'removed' | 'ended' | 'expired'
}

/**
 * Returns the SIP status for a cause: the status that the cause names, otherwise the status of its code in
 * the catalogue.
 */
export const sipStatusOf = (cause: Cause): number => cause.sip ?? catalogue[cause.code].sip

/**
 * Q.850 causes of SIP statuses that have no code in the catalogue (RFC 3398 section 8.2.6.1). Any other
 * status is a temporary failure.
 */
const q850OfStatus: Readonly<Partial<Record<number, number>>> = {
  401: 21,
  402: 21,
  403: 21,
  404: 1,
  405: 63,
  406: 79,
  407: 21,
  410: 22,
  415: 79,
  420: 127,
  482: 25,
  483: 25,
  484: 28,
  485: 1,
  488: 65,
  501: 79,
  502: 38,
  504: 102,
  604: 1,
  606: 65,
}

/**
 * Returns the Q.850 cause value. Uses the value that the far side sent, otherwise the value for its SIP
 * status, otherwise the value of the code in the catalogue.
 */
export const q850Of = ({ code, sip, q850 }: Cause): number =>
  q850 ?? (code === 'far_refused' && sip ? q850OfStatus[sip] : undefined) ?? catalogue[code].q850

/** Error with a code of the catalogue. `facts`: the checked values, for the log line. */
export class TrunklineError extends Error {
  readonly code: Code
  readonly facts: Readonly<Record<string, unknown>>
  /** Message of this error in particular; undefined if the message is the catalogue's text. */
  readonly detail: string | undefined

  constructor(code: Code, detail?: string, facts: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(
      detail ? `${catalogue[code].text} ${detail}` : catalogue[code].text,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'TrunklineError'
    this.code = code
    this.facts = facts
    this.detail = detail
  }
}

/** Codes with a general text: an error's detail replaces it. */
const generic: ReadonlySet<Code> = new Set<Code>([
  'bad_request',
  'invalid_field',
  'missing_required_parameter',
  'not_permitted',
  'unauthorized',
  'unknown_parameter',
])

/**
 * Returns the message of an error for the person who reads the response. If the code's text is general, the
 * message is the detail alone.
 */
export const messageOf = ({ code, detail, message }: TrunklineError): string =>
  detail && generic.has(code) ? detail : message

/**
 * Returns the code of any thrown value: its `code` if the catalogue has that code, else `internal`. Media
 * errors carry such codes, too.
 */
export const codeOf = (error: unknown): Code => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && Object.hasOwn(catalogue, code) ? (code as Code) : 'internal'
}

/** Returns the text of a code; undefined if the catalogue does not have it. */
export const textOf = (code: string): string | undefined =>
  Object.hasOwn(catalogue, code) ? catalogue[code as Code].text : undefined
